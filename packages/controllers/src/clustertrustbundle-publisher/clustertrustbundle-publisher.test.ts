import type { ClusterTrustBundle } from '@gyropilot/api'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '@gyropilot/client'
import type { RawRequest } from '@gyropilot/client'
import { generateKeyPair, issueCertificate } from '@gyropilot/foundation/x509'
import { drive, startLoop, testContext } from '@gyropilot/runtime/testing'
import type { Outcome, Write } from '@gyropilot/runtime'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refused } from '../workload-support/fixtures.ts'
import { BUNDLE_TYPES, SIGNER_NAME } from './config.ts'
import { clusterTrustBundleLogic, clusterTrustBundlePublisherController } from './index.ts'
import { codeOfCause } from './metrics.ts'
import { bundleName, reconcile } from './reconcile.ts'
import { servedType } from './served-type.ts'

const [TYPE, ALPHA] = BUNDLE_TYPES as [(typeof BUNDLE_TYPES)[0], (typeof BUNDLE_TYPES)[0]]
const TEXT = 'the bundle'
const NAME = bundleName(TEXT)
const OTHER = 'kubernetes.io:kube-apiserver-serving:other'

const bundle = (name: string, trustBundle = TEXT): ClusterTrustBundle => ({
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'ClusterTrustBundle',
  metadata: { name, resourceVersion: '7', labels: { kept: 'yes' } },
  spec: { signerName: SIGNER_NAME, trustBundle },
})

function sync(
  bundles: readonly ClusterTrustBundle[],
  onWrite?: (write: Write, index: number) => Outcome | undefined,
) {
  return drive(reconcile(TYPE, bundles, TEXT), onWrite && { onWrite })
}

const shown = (writes: readonly Write[]): readonly string[] =>
  writes.map((write) =>
    write.verb === 'delete' ? `delete ${write.name}` : `${write.verb} ${nameOf(write)}`,
  )
const nameOf = (write: Write): string =>
  write.verb === 'create' || write.verb === 'update' ? (write.object.metadata?.name ?? '') : ''

test('the name has the first 12 bytes of the hash of the text', () => {
  // printf 'the bundle' | sha256sum
  assert.equal(NAME, 'kubernetes.io:kube-apiserver-serving:bab59f2948216e8ff89b7fc8')
})

for (const title of [
  'Given no bundles, then CREATE',
  'Given bundles of other signers only, then CREATE and no delete',
]) {
  // Those of other signers are not in the cache: its informer asks for this signer only.
  test(title, () => {
    assert.deepEqual(sync([]).writes, [
      {
        verb: 'create',
        type: TYPE,
        namespace: undefined,
        object: {
          apiVersion: 'certificates.k8s.io/v1beta1',
          kind: 'ClusterTrustBundle',
          metadata: { name: NAME },
          spec: { signerName: SIGNER_NAME, trustBundle: TEXT },
        },
      },
    ])
  })
}

test('Given the right name with other content, then UPDATE', () => {
  const { writes } = sync([bundle(NAME, 'edited')])
  assert.equal(writes.length, 1)
  assert.ok(writes[0]?.verb === 'update')
  assert.deepEqual(writes[0].object, bundle(NAME))
})

test('Given the correct bundle and a second one of the signer, then exactly one request: DELETE of the second', () => {
  assert.deepEqual(shown(sync([bundle(OTHER), bundle(NAME)]).writes), [`delete ${OTHER}`])
})

test('Given the right name with old content and a second bundle, then exactly UPDATE followed by DELETE of the second', () => {
  const { writes } = sync([bundle(OTHER), bundle(NAME, 'old')])
  assert.deepEqual(shown(writes), [`update ${NAME}`, `delete ${OTHER}`])
})

test('Given only a bundle of the signer under another name (even with the right content), then exactly CREATE of the right one followed by DELETE of the other', () => {
  assert.deepEqual(shown(sync([bundle(OTHER)]).writes), [`create ${NAME}`, `delete ${OTHER}`])
})

test('Given the right state, then no request', () => {
  assert.deepEqual(sync([bundle(NAME)]).writes, [])
})

test('If the write fails, old bundles stay', () => {
  for (const bundles of [[bundle(OTHER)], [bundle(OTHER), bundle(NAME, 'old')]]) {
    const { writes, result } = sync(bundles, () => refused(409, 'AlreadyExists'))
    assert.equal(writes.length, 1)
    assert.ok(result.error)
  }
})

test('An error while deleting one bundle does not stop the others and leads to a retry', () => {
  const others = ['a', 'b', 'c'].map((name) => bundle(name))
  const { writes, result } = sync([bundle(NAME), ...others], (_, index) =>
    index === 0 ? refused(500, 'InternalError') : undefined,
  )
  assert.deepEqual(shown(writes), ['delete a', 'delete b', 'delete c'])
  assert.ok(result.error)
  const gone = sync([bundle(NAME), ...others], () => refused(404, 'NotFound'))
  assert.deepEqual([gone.writes.length, gone.result], [3, {}])
})

test('Given nil, API and plain errors, then codes as listed', () => {
  const conflict = refused(409, 'Conflict')
  assert.ok(!conflict.ok)
  assert.equal(codeOfCause(undefined), '200')
  assert.equal(codeOfCause(conflict.error), '409')
  assert.equal(codeOfCause(new Error('wrapped', { cause: conflict.error })), '409')
  assert.equal(codeOfCause(new Error('plain')), '500')
  assert.equal(codeOfCause('text'), '500')
})

function refusal(code: number): StatusError {
  const outcome = refused(code, 'Reason')
  assert.ok(!outcome.ok && outcome.error instanceof StatusError)
  return outcome.error
}

/** Serves these versions; others are answered with `missing`. */
function discovery(served: readonly string[], missing = 404) {
  const asked: string[] = []
  const raw = async <T>({ path }: RawRequest): Promise<T> => {
    asked.push(path)
    const version = path.split('/').at(-1)!
    if (!served.includes(version)) throw refusal(missing)
    return { resources: [{ name: 'clustertrustbundles' }] } as T
  }
  return { asked, raw }
}

test('v1beta1 if discovery lists it, else v1alpha1, else nothing; other errors end the start', async () => {
  assert.equal(await servedType(discovery(['v1beta1', 'v1alpha1'])), TYPE)
  assert.equal(await servedType(discovery(['v1alpha1'])), ALPHA)
  assert.equal(await servedType(discovery([])), undefined)
  await assert.rejects(servedType(discovery([], 503)))
})

function certificate(): string {
  const { publicKey, privateKey } = generateKeyPair()
  const subject = { commonName: 'ca' }
  const times = { notBeforeMs: 0, notAfterMs: 1_000 }
  const request = { subject, publicKey, usage: 'authority', ...times } as const
  return issueCertificate({ ...request, serialNumber: Uint8Array.of(1) }, { subject, privateKey })
}

async function isBuilt(gate: boolean | undefined, caBundle: string, served = ['v1beta1']) {
  const featureGates: Record<string, boolean> = {}
  if (gate !== undefined) featureGates['ClusterTrustBundle'] = gate
  const rootCaPublisher = { caBundle }
  const context = testContext({
    configuration: { ...defaultControllersConfiguration, featureGates, rootCaPublisher },
  })
  const { asked, raw } = discovery(served)
  Object.assign(context.client, { raw })
  const built = await clusterTrustBundlePublisherController.build(context)
  return { built: built !== undefined, asked }
}

test('With an empty CA, without the gate, or where the type is not served, the controller is not started', async () => {
  const pem = certificate()
  assert.deepEqual(await isBuilt(undefined, pem), { built: false, asked: [] })
  assert.deepEqual(await isBuilt(false, pem), { built: false, asked: [] })
  assert.deepEqual(await isBuilt(true, ''), { built: false, asked: [] })
  assert.equal((await isBuilt(true, pem, [])).built, false)
  assert.equal((await isBuilt(true, pem)).built, true)
  await assert.rejects(isBuilt(true, 'no certificate'), /holds no certificate/)
})

test('every event leads to the one key, and syncs are counted', () => {
  const rootCaPublisher = { caBundle: TEXT }
  const context = testContext({
    configuration: { ...defaultControllersConfiguration, rootCaPublisher },
    cached: [bundle(NAME)],
  })
  const {
    watches,
    observe,
    reconcile: rules,
    workers,
    queueName,
  } = clusterTrustBundleLogic(TYPE, context)
  const [watch] = watches
  const some = bundle('x')
  const keys = [watch?.onAdd?.(some), watch?.onUpdate?.(some, some), watch?.onDelete?.(some)]
  assert.deepEqual(keys, [[''], [''], ['']])
  assert.deepEqual([workers, queueName], [1, 'ca_cert_publisher_cluster_trust_bundles'])
  const observed = observe('')
  assert.deepEqual(observed, [bundle(NAME)])
  assert.deepEqual(drive(rules(observed!)).writes, [])
  assert.equal(context.metrics.value('clustertrustbundle_publisher_sync_total', { code: '200' }), 1)
})

test('Given RBAC, the gate and v1beta1 served, then within 30s exactly one bundle of the signer exists and its text is the CA file byte for byte; after a user creates `kubernetes.io:kube-apiserver-serving:testname`, and after a user replaces the text of the published bundle, the same state is restored within 30s; a bundle of `test.test/unrelated` is untouched; the sync counter is above 0', async () => {
  const caBundle = certificate()
  const context = testContext({
    configuration: {
      ...defaultControllersConfiguration,
      featureGates: { ClusterTrustBundle: true },
      rootCaPublisher: { caBundle },
    },
  })
  const { client, clock, metrics } = context
  client.onRequest = ({ path }) =>
    path === '/apis/certificates.k8s.io/v1beta1'
      ? { resources: [{ name: 'clustertrustbundles' }] }
      : undefined
  const spec = { signerName: 'test.test/unrelated', trustBundle: 'theirs' }
  const unrelated = client.put(TYPE, { ...bundle('test.test:unrelated:a'), spec })
  const controller = await clusterTrustBundlePublisherController.build(context)
  const { stop } = startLoop(controller, clock)

  const right = bundleName(caBundle)
  const isRestored = (): boolean => {
    const own = (client.list(TYPE) as ClusterTrustBundle[]).filter(
      (each) => each.spec.signerName === SIGNER_NAME,
    )
    return (
      own.length === 1 && own[0]!.metadata?.name === right && own[0]!.spec.trustBundle === caBundle
    )
  }
  const restored = (): Promise<boolean> => clock.advanceUntil(isRestored, 30_000)
  assert.ok(await restored())
  client.put(TYPE, bundle('kubernetes.io:kube-apiserver-serving:testname'))
  assert.ok(!isRestored() && (await restored()))
  client.put(TYPE, bundle(right, 'another text'))
  assert.ok(!isRestored() && (await restored()))
  assert.deepEqual(client.get(TYPE, undefined, 'test.test:unrelated:a'), unrelated)
  assert.ok((metrics.value('clustertrustbundle_publisher_sync_total', { code: '200' }) ?? 0) > 0)

  await stop()
})

test('its bundles are streamed, and without WatchListClient listed as they are now', async () => {
  const firstRequest = async (gates: Record<string, boolean>): Promise<unknown> => {
    const context = testContext({
      configuration: {
        ...defaultControllersConfiguration,
        featureGates: { ClusterTrustBundle: true, ...gates },
        rootCaPublisher: { caBundle: certificate() },
      },
    })
    Object.assign(context.client, { raw: discovery(['v1beta1']).raw })
    const controller = await clusterTrustBundlePublisherController.build(context)
    const { stop } = startLoop(controller, context.clock)
    await context.clock.advance(1_000)
    await stop()
    const [request] = context.client.requested('list', 'watch')
    const { resourceVersion, sendInitialEvents, fieldSelector } = { ...request?.options }
    return { verb: request?.verb, resourceVersion, sendInitialEvents, fieldSelector }
  }
  const fieldSelector = `spec.signerName=${SIGNER_NAME}`
  assert.deepEqual(await firstRequest({}), {
    verb: 'watch',
    resourceVersion: undefined,
    sendInitialEvents: true,
    fieldSelector,
  })
  assert.deepEqual(await firstRequest({ WatchListClient: false }), {
    verb: 'list',
    resourceVersion: undefined,
    sendInitialEvents: undefined,
    fieldSelector,
  })
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault, featureGates } =
    clusterTrustBundlePublisherController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault, featureGates],
    [
      'kube-apiserver-serving-clustertrustbundle-publisher-controller',
      [],
      'kube-apiserver-serving-clustertrustbundle-publisher',
      true,
      ['ClusterTrustBundle'],
    ],
  )
})
