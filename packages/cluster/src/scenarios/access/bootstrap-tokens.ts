/** Bootstrap tokens: what is told to everybody is signed with each that is good, and with no other. */
import { createHmac } from 'node:crypto'
import type { ConfigMap, Secret } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { untilWithOccasions } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

const SIGNER = 'bootstrap-signer-controller'
const CLEANER = 'token-cleaner-controller'
const TOKENS = 'kube-system'
const PREFIX = 'jws-kubeconfig-'
const LIFE_MS = 30_000

const clusterInfo: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'cluster-info', namespace: 'kube-public' },
  data: { kubeconfig: 'first', other: 'kept' },
}

function token(id: string, data: Readonly<Record<string, string>> = {}): Secret {
  const all = {
    'token-id': id,
    'token-secret': `secret-of-${id}`,
    'usage-bootstrap-signing': 'true',
    ...data,
  }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: TOKENS },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries(all).map(([key, text]) => [key, btoa(text)])),
  }
}

const findInfo = (cluster: SimulatedCluster) =>
  cluster.objects.find(resources.configmaps, 'kube-public', 'cluster-info')

function signaturesIn(cluster: SimulatedCluster): Readonly<Record<string, string>> {
  const data = findInfo(cluster)?.data ?? {}
  const entries = Object.entries(data).filter(([key]) => key.startsWith(PREFIX))
  return Object.fromEntries(entries.map(([key, text]) => [key.slice(PREFIX.length), text]))
}

/** RFC 7515, with the content left out. */
function signature(id: string, content: string): string {
  const encode = (text: string): string => Buffer.from(text).toString('base64url')
  const header = encode(JSON.stringify({ alg: 'HS256', kid: id }))
  const mac = createHmac('sha256', `secret-of-${id}`).update(`${header}.${encode(content)}`)
  return `${header}..${mac.digest('base64url')}`
}

function isSignedWith(cluster: SimulatedCluster, content: string, ids: readonly string[]): boolean {
  const found = signaturesIn(cluster)
  const isRight = ids.every((id) => found[id] === signature(id, content))
  return isRight && Object.keys(found).length === ids.length
}

async function touch(cluster: SimulatedCluster): Promise<void> {
  const annotations = { 'example.com/touched': String(cluster.virtualMs) }
  await cluster.patch(resources.configmaps, 'kube-public', 'cluster-info', {
    type: 'merge',
    value: { metadata: { annotations } },
  })
}

async function untilSigned(
  cluster: SimulatedCluster,
  content: string,
  ids: readonly string[],
): Promise<void> {
  await untilWithOccasions(
    cluster,
    `${content} is signed with ${ids.join()}`,
    () => isSignedWith(cluster, content, ids),
    () => touch(cluster),
  )
}

function tokenNames(cluster: SimulatedCluster): string {
  return cluster.objects
    .all(resources.secrets, TOKENS)
    .filter(({ type }) => type === 'bootstrap.kubernetes.io/token')
    .map(({ metadata }) => metadata?.name?.replace('bootstrap-token-', ''))
    .toSorted()
    .join()
}

async function untilTokensAre(cluster: SimulatedCluster, wanted: string): Promise<void> {
  await untilWithOccasions(
    cluster,
    `the tokens ${wanted} are left`,
    () => tokenNames(cluster) === wanted,
    async () => {
      for (const id of tokenNames(cluster).split(','))
        await cluster.patch(resources.secrets, TOKENS, `bootstrap-token-${id}`, {
          type: 'merge',
          value: { metadata: { annotations: { 'example.com/at': String(cluster.virtualMs) } } },
        })
    },
  )
}

export const bootstrapTokenScenarios: readonly Scenario[] = [
  {
    name: 'bootstrap tokens sign while they are good, and go when they are over',
    controllers: [SIGNER, CLEANER],
    optional: [SIGNER, CLEANER],
    nodes: 0,
    async play(cluster) {
      const soon = formatTime(cluster.clock.nowMs() + LIFE_MS)
      await cluster.create(clusterInfo)
      await cluster.create(token('stayin'))
      await cluster.create(token('silent', { 'usage-bootstrap-signing': 'false' }))
      await cluster.create(token('brief0', { expiration: soon }))
      await cluster.create(token('tossed'))
      await untilSigned(cluster, 'first', ['brief0', 'stayin', 'tossed'])
      await cluster.patch(resources.configmaps, 'kube-public', 'cluster-info', {
        type: 'merge',
        value: { data: { kubeconfig: 'second' } },
      })
      await cluster.delete(resources.secrets, TOKENS, 'bootstrap-token-tossed')
      await cluster.advance(LIFE_MS)
      await untilTokensAre(cluster, 'silent,stayin')
      await cluster.create(token('broken', { expiration: 'never' }))
      await untilTokensAre(cluster, 'silent,stayin')
      await untilSigned(cluster, 'second', ['stayin'])
    },
    *ends(cluster) {
      if (tokenNames(cluster) !== 'silent,stayin')
        yield `the tokens ${tokenNames(cluster)} are left`
      if (!isSignedWith(cluster, 'second', ['stayin']))
        yield `cluster-info has ${JSON.stringify(signaturesIn(cluster))}`
      if (findInfo(cluster)?.data?.['other'] !== 'kept') yield 'cluster-info lost other data'
    },
  },
]
