import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConfigMap, KubernetesObject, Secret } from '@gyropilot/api'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { tokenForSigning } from '../bootstrap-token-support/bootstrap-token.ts'
import { tokenSecret } from '../bootstrap-token-support/fixtures.ts'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { bootstrapSignerLogic, bootstrapSignerController } from './index.ts'
import { configMapWatch, secretWatch } from './watches.ts'

/** Of `payload` by the token abc123.tokenSecret. */
const SIGNATURE =
  'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiYzEyMyJ9..QSxpUG7Q542CirTI2ECPSZjvBOJURUW5a7XqFpNI958'
const SIGNED = { kubeconfig: 'payload', 'jws-kubeconfig-abc123': SIGNATURE }

function clusterInfo(data?: Record<string, string>): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-public', name: 'cluster-info', resourceVersion: '7' },
    data,
  }
}

function sync(objects: readonly KubernetesObject[], options: DriveOptions = {}) {
  const logger = new RecordingLogger()
  const logic = bootstrapSignerLogic({ informers: fakeInformers(objects), logger })
  const observed = logic.observe('kube-public/cluster-info')
  if (observed === undefined) return undefined
  return drive(logic.reconcile(observed), { nowMs: NOW_MS, ...options })
}

/** The data of the one update there must be. */
function updated(objects: readonly KubernetesObject[]) {
  const writes = sync(objects)?.writes ?? []
  assert.equal(writes.length, 1)
  const [write] = writes
  assert.ok(write?.verb === 'update' && write.subresource === undefined)
  assert.equal(write.object.metadata?.resourceVersion, '7')
  return (write.object as ConfigMap).data
}

test('Given no ConfigMap, then no request', () => {
  assert.equal(sync([tokenSecret()]), undefined)
})

test('Given a ConfigMap without signature and a valid token, then one UPDATE with the test vector', () => {
  assert.deepEqual(updated([clusterInfo({ kubeconfig: 'payload' }), tokenSecret()]), SIGNED)
})

test('a secret that is no text signs with its bytes', () => {
  const secret = tokenSecret()
  const data = {
    ...secret.data,
    'token-secret': Buffer.from([0xff, 0x00, 0xc3]).toString('base64'),
  }
  const signed = updated([clusterInfo({ kubeconfig: 'payload' }), { ...secret, data } as Secret])
  assert.equal(
    signed?.['jws-kubeconfig-abc123'],
    'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiYzEyMyJ9..NnfSSm4g1GFS6JtCVfXnsWcNvm2MHDZD_2-IJi2CS9k',
  )
})

test('Given the right signature, then no request', () => {
  assert.deepEqual(sync([clusterInfo(SIGNED), tokenSecret()])?.effects, [])
})

test('Given a wrong signature for the id, then one UPDATE', () => {
  const wrong = { ...SIGNED, 'jws-kubeconfig-abc123': 'other' }
  assert.deepEqual(updated([clusterInfo(wrong), tokenSecret()]), SIGNED)
})

test('Given a signature but no token Secret, then one UPDATE without it', () => {
  assert.deepEqual(updated([clusterInfo(SIGNED)]), { kubeconfig: 'payload' })
})

test('all valid tokens sign in one update; other keys stay, also those that begin with jws-', () => {
  const data = { kubeconfig: 'payload', 'jws-other': 'x', more: 'y' }
  const second = tokenSecret({}, 'xyz789')
  const signed = updated([clusterInfo(data), second, tokenSecret()])
  assert.deepEqual(Object.keys(signed ?? {}).sort(), [
    'jws-kubeconfig-abc123',
    'jws-kubeconfig-xyz789',
    'jws-other',
    'kubeconfig',
    'more',
  ])
  assert.equal(signed?.['jws-kubeconfig-abc123'], SIGNATURE)
  assert.equal(
    Buffer.from(signed?.['jws-kubeconfig-xyz789']?.split('.')[0] ?? '', 'base64url').toString(),
    '{"alg":"HS256","kid":"xyz789"}',
  )
})

test('without `kubeconfig`, or without data, nothing is signed; an empty text is', () => {
  assert.deepEqual(sync([clusterInfo({ other: 'x' }), tokenSecret()])?.effects, [])
  assert.deepEqual(sync([clusterInfo(), tokenSecret()])?.effects, [])
  assert.deepEqual(Object.keys(updated([clusterInfo({ kubeconfig: '' }), tokenSecret()]) ?? {}), [
    'kubeconfig',
    'jws-kubeconfig-abc123',
  ])
})

test('the content is signed byte for byte', () => {
  const trimmed = updated([clusterInfo({ kubeconfig: 'payload\n' }), tokenSecret()])
  assert.notEqual(trimmed?.['jws-kubeconfig-abc123'], SIGNATURE)
})

const at = (offsetMs: number): string => new Date(NOW_MS + offsetMs).toISOString()

const validity: readonly [string, Record<string, string>, boolean][] = [
  ['no id', { 'token-id': '' }, false],
  ['no secret', { 'token-secret': '' }, false],
  ['expired', { expiration: at(-1) }, false],
  ['expiring now', { expiration: at(0) }, false],
  ['an expiration that is no time', { expiration: 'soon' }, false],
  ['not for signing', { 'usage-bootstrap-signing': 'false' }, false],
  ['signing spelt otherwise', { 'usage-bootstrap-signing': 'True' }, false],
  [
    'for authentication only',
    { 'usage-bootstrap-signing': '', 'usage-bootstrap-authentication': 'true' },
    false,
  ],
  ['no expiration', {}, true],
  ['empty expiration', { expiration: '' }, true],
  ['future expiration', { expiration: at(1) }, true],
]
test('Given Secrets without id, without secret, expired, not for signing, then not valid; with empty or future expiration valid', () => {
  for (const [what, values, isValid] of validity) {
    const token = tokenForSigning(tokenSecret(values), NOW_MS)
    assert.deepEqual(
      token,
      isValid ? { id: 'abc123', secret: Buffer.from('tokenSecret') } : undefined,
      what,
    )
  }
})

function named(name: string, id: string): Secret {
  const secret = tokenSecret({}, id)
  return { ...secret, metadata: { ...secret.metadata, name } }
}

test('Given a Secret name that does not match the pattern or the id, then not valid', () => {
  const names: readonly [string, string][] = [
    ['bootstrap-token-abc123', 'xyz789'],
    ['bootstrap-token-ABC123', 'ABC123'],
    ['bootstrap-token-abc12', 'abc12'],
    ['bootstrap-token-abc1234', 'abc1234'],
    ['my-bootstrap-token-abc123', 'abc123'],
    ['token-abc123', 'abc123'],
  ]
  for (const [name, id] of names)
    assert.equal(tokenForSigning(named(name, id), NOW_MS), undefined, name)
})

test('a Secret of another type or namespace signs nothing', () => {
  const token = tokenSecret()
  const opaque = { ...token, type: 'Opaque' }
  const elsewhere = { ...token, metadata: { ...token.metadata, namespace: 'default' } }
  const unsigned = clusterInfo({ kubeconfig: 'payload' })
  assert.deepEqual(sync([unsigned, opaque])?.effects, [])
  assert.deepEqual(sync([unsigned, elsewhere])?.effects, [])
})

test('no error is retried: conflict and 404 are silent, others are logged', () => {
  for (const [code, logged] of [
    [409, 0],
    [404, 0],
    [500, 1],
  ] as const) {
    const logger = new RecordingLogger()
    const objects = [clusterInfo({ kubeconfig: 'payload' }), tokenSecret()]
    const logic = bootstrapSignerLogic({ informers: fakeInformers(objects), logger })
    const observed = logic.observe('kube-public/cluster-info')!
    const { result, writes } = drive(logic.reconcile(observed), {
      nowMs: NOW_MS,
      onWrite: () => refused(code, 'Reason'),
    })
    assert.deepEqual([result, writes.length, logger.lines.length], [undefined, 1, logged])
    assert.ok(!JSON.stringify(logger.lines).includes('tokenSecret'))
  }
})

test('events of cluster-info and of tokens ask for the one key; deletions of the ConfigMap and tombstones do not', () => {
  const key = ['kube-public/cluster-info']
  const info = clusterInfo()
  const other = { ...info, metadata: { namespace: 'kube-public', name: 'other' } }
  assert.deepEqual([...configMapWatch.onAdd!(info)], key)
  assert.deepEqual([...configMapWatch.onUpdate!(info, info)], key)
  assert.deepEqual([...configMapWatch.onAdd!(other), ...configMapWatch.onUpdate!(other, other)], [])
  assert.equal(configMapWatch.onDelete, undefined)
  const token = tokenSecret()
  const opaque = { ...token, type: 'Opaque' }
  assert.deepEqual([...secretWatch.onAdd!(token)], key)
  assert.deepEqual([...secretWatch.onUpdate!(token, token)], key)
  assert.deepEqual([...secretWatch.onUpdate!(token, opaque)], key)
  assert.deepEqual([...secretWatch.onUpdate!(opaque, token)], key)
  assert.deepEqual([...secretWatch.onDelete!(token)], key)
  assert.deepEqual([...secretWatch.onAdd!(opaque), ...secretWatch.onUpdate!(opaque, opaque)], [])
  assert.deepEqual([...secretWatch.onDelete!(opaque)], [])
  const tombstone = new DeletedFinalStateUnknown<Secret>(
    'kube-system/bootstrap-token-abc123',
    undefined,
  )
  assert.deepEqual([...secretWatch.onDelete!(tombstone)], [])
  assert.deepEqual([configMapWatch.resyncPeriodMs, secretWatch.resyncPeriodMs], [0, 0])
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = bootstrapSignerController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    ['bootstrap-signer-controller', ['bootstrapsigner'], 'bootstrap-signer', false],
  )
})
