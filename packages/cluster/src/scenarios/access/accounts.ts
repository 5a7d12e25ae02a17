/** Tokens of service accounts in Secrets: who has one, and how long. */
import { verify } from 'node:crypto'
import type { Pod, Secret, ServiceAccount } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { AUTHORITY_PEM, serviceAccountKey } from '../../simulated/fixed-certificates.ts'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { pod } from '../objects.ts'
import { restartManager, untilWithOccasions } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

const TOKENS = 'serviceaccount-token-controller'
const CLEANER = 'legacy-serviceaccount-token-cleaner-controller'
const LAST_USED = 'kubernetes.io/legacy-token-last-used'
const INVALID_SINCE = 'kubernetes.io/legacy-token-invalid-since'
const STEP_MS = 10_000
/** No cache lags as long. */
const LAG_MS = 20_000

function account(name: string, secrets: readonly string[] = []): ServiceAccount {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: 'default' },
    secrets: secrets.map((secret) => ({ name: secret })),
  }
}

function tokenSecret(
  name: string,
  of: string,
  given: { readonly data?: Secret['data']; readonly labels?: Record<string, string> } = {},
): Secret {
  const { data, labels = {} } = given
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace: 'default',
      labels,
      annotations: { 'kubernetes.io/service-account.name': of },
    },
    type: 'kubernetes.io/service-account-token',
    ...(data && { data }),
  }
}

const findSecret = (cluster: SimulatedCluster, name: string) =>
  cluster.objects.find(resources.secrets, 'default', name)

const findAccount = (cluster: SimulatedCluster, name: string) =>
  cluster.objects.find(resources.serviceaccounts, 'default', name)

const changeSecret = (cluster: SimulatedCluster, name: string, value: object) =>
  cluster.patch(resources.secrets, 'default', name, { type: 'merge', value })

const referencesOf = (cluster: SimulatedCluster, name: string): string =>
  (findAccount(cluster, name)?.secrets ?? []).map((secret) => secret.name).join()

const refer = (cluster: SimulatedCluster, name: string, secrets: readonly string[]) =>
  cluster.patch(resources.serviceaccounts, 'default', name, {
    type: 'merge',
    value: { secrets: secrets.map((secret) => ({ name: secret })) },
  })

function isFilled(cluster: SimulatedCluster, name: string): boolean {
  const data = findSecret(cluster, name)?.data ?? {}
  const isAuthority = data['ca.crt'] === btoa(AUTHORITY_PEM)
  return isAuthority && Boolean(data['token']) && Boolean(data['namespace'])
}

/** An event of a Secret lets the controller look at it again: what it missed of accounts, and what a stale read told, it finds out then. */
const touch = (cluster: SimulatedCluster, name: string) =>
  changeSecret(cluster, name, {
    metadata: { annotations: { 'example.com/at': `${cluster.virtualMs}` } },
  })

const untilFilled = (cluster: SimulatedCluster, name: string) =>
  untilWithOccasions(
    cluster,
    `${name} is filled`,
    () => isFilled(cluster, name),
    () => touch(cluster, name),
  )

const untilGone = (cluster: SimulatedCluster, name: string) =>
  untilWithOccasions(
    cluster,
    `${name} is gone`,
    () => findSecret(cluster, name) === undefined,
    () => touch(cluster, name),
  )

/** A token that this cluster issued to this account for this Secret, for ever. */
function* isTokenOf(cluster: SimulatedCluster, name: string, of: string): Iterable<string> {
  const { data = {}, metadata } = findSecret(cluster, name) ?? {}
  const [header = '', payload = '', signature = ''] = atob(data['token'] ?? '').split('.')
  const uid = findAccount(cluster, of)?.metadata?.uid
  const claim = 'kubernetes.io/serviceaccount'
  const wanted = {
    iss: 'kubernetes/serviceaccount',
    [`${claim}/namespace`]: 'default',
    [`${claim}/secret.name`]: name,
    [`${claim}/service-account.name`]: of,
    [`${claim}/service-account.uid`]: uid,
    sub: `system:serviceaccount:default:${of}`,
  }
  const found: object = JSON.parse(Buffer.from(payload, 'base64url').toString() || '{}')
  const inOrder = Object.fromEntries(Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  if (JSON.stringify(inOrder) !== JSON.stringify(wanted)) yield `${name} claims ${payload}`
  const isSigned = verify(
    'sha256',
    Buffer.from(`${header}.${payload}`),
    { key: serviceAccountKey().publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  if (!isSigned) yield `${name} has a token of somebody else`
  if (metadata?.annotations?.['kubernetes.io/service-account.uid'] !== uid)
    yield `${name} does not say whose it is`
}

const tokenFilling: Scenario = {
  name: 'accounts come, are replaced and go, and their tokens with them',
  controllers: [TOKENS],
  nodes: 0,
  async play(cluster) {
    for (const name of ['keeper', 'robot', 'leaver']) await cluster.create(account(name))
    const own = { namespace: btoa('elsewhere'), token: btoa('by hand') }
    await cluster.create(tokenSecret('own', 'keeper', { data: own }))
    for (const name of ['keeper', 'robot', 'leaver'])
      await cluster.create(tokenSecret(`of-${name}`, name))
    for (const name of ['own', 'of-keeper', 'of-robot', 'of-leaver'])
      await untilFilled(cluster, name)
    await changeSecret(cluster, 'of-keeper', {
      data: { 'ca.crt': btoa('spoiled'), namespace: null },
    })
    await untilFilled(cluster, 'of-keeper')
    await cluster.delete(resources.serviceaccounts, 'default', 'leaver')
    // A namesake, with no time to see that the other went.
    await cluster.delete(resources.serviceaccounts, 'default', 'robot')
    await cluster.create(account('robot'))
    await untilGone(cluster, 'of-leaver')
    await untilGone(cluster, 'of-robot')
    // What is still to be done for the first robot would take a Secret that does not say which robot it means.
    await cluster.advance(LAG_MS)
    await cluster.create(tokenSecret('anew', 'robot'))
    await cluster.create(tokenSecret('nobodys', 'nobody'))
    await cluster.create(tokenSecret('passing', 'keeper'))
    await untilFilled(cluster, 'anew')
    await untilFilled(cluster, 'passing')
    await untilGone(cluster, 'nobodys')
    await refer(cluster, 'keeper', ['first', 'passing', 'of-keeper'])
    await cluster.delete(resources.secrets, 'default', 'passing')
    await untilWithOccasions(
      cluster,
      'keeper no longer refers to what is gone',
      () => referencesOf(cluster, 'keeper') === 'first,of-keeper',
      () => refer(cluster, 'keeper', ['first', 'of-keeper']),
    )
  },
  *ends(cluster) {
    const names = cluster.objects
      .all(resources.secrets, 'default')
      .map((each) => each.metadata?.name)
    if (names.join() !== 'anew,of-keeper,own') yield `the Secrets ${names.join()} are left`
    for (const name of ['anew', 'of-keeper', 'own'])
      if (!isFilled(cluster, name)) yield `${name} is not filled`
    yield* isTokenOf(cluster, 'anew', 'robot')
    yield* isTokenOf(cluster, 'of-keeper', 'keeper')
    const { data } = findSecret(cluster, 'own') ?? {}
    if (data?.['token'] !== btoa('by hand') || data['namespace'] !== btoa('elsewhere'))
      yield 'own lost what it had'
    if (referencesOf(cluster, 'robot') !== '') yield `robot has ${referencesOf(cluster, 'robot')}`
  },
}

const mounting = (secretName: string): Pod => {
  const plain = pod('mounting', { app: 'mounting' })
  return {
    ...plain,
    spec: { ...plain.spec!, volumes: [{ name: 'token', secret: { secretName } }] },
  }
}

const invalidSince = (cluster: SimulatedCluster, name: string) =>
  findSecret(cluster, name)?.metadata?.labels?.[INVALID_SINCE]

const today = (cluster: SimulatedCluster): string => formatTime(cluster.clock.nowMs()).slice(0, 10)

const tokenCleaning: Scenario = {
  name: 'tokens that nobody uses are refused and then deleted',
  controllers: [CLEANER],
  nodes: 0,
  configuration: { legacyTokenCleaner: { cleanUpPeriodMs: STEP_MS } },
  async play(cluster) {
    const made = ['condemned', 'idle', 'mounted', 'used']
    await cluster.create(account('robot', made))
    // A Secret whose account no cache has may be taken for nobody's.
    await cluster.advance(STEP_MS)
    const labels: Readonly<Record<string, Record<string, string>>> = {
      condemned: { [INVALID_SINCE]: '2025-01-01' },
      used: { [LAST_USED]: today(cluster) },
    }
    for (const name of [...made, 'by-hand'])
      await cluster.create(tokenSecret(name, 'robot', { labels: labels[name] ?? {} }))
    await cluster.create(mounting('mounted'))
    await cluster.patch(
      resources.configmaps,
      'kube-system',
      'kube-apiserver-legacy-service-account-token-tracking',
      { type: 'merge', value: { data: { since: '2025-01-01' } } },
    )
    // Older than the period.
    await cluster.advance(STEP_MS + 1_000)
    await restartManager(cluster)
    await untilWithOccasions(
      cluster,
      'one is deleted and another refused',
      () =>
        findSecret(cluster, 'condemned') === undefined &&
        invalidSince(cluster, 'idle') === today(cluster),
      () => restartManager(cluster),
    )
  },
  *ends(cluster) {
    for (const name of ['by-hand', 'idle', 'mounted', 'used'])
      if (findSecret(cluster, name) === undefined) yield `${name} is gone`
    for (const name of ['by-hand', 'mounted', 'used'])
      if (invalidSince(cluster, name) !== undefined) yield `${name} is refused`
  },
}

export const accountScenarios: readonly Scenario[] = [tokenFilling, tokenCleaning]
