import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { ConfigMap, Namespace } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { refusal, refused } from '../workload-support/fixtures.ts'
import { DESCRIPTION_TEXT, newConfigMap } from './config-map.ts'
import { syncCode } from '../publisher-support/sync-metrics.ts'
import { observe } from './observe.ts'
import { reconcile } from './reconcile.ts'
import { configMapWatch, namespaceWatch } from './watches.ts'
import { rootCaCertificatePublisherController } from './index.ts'

const BUNDLE = '  -----BEGIN CERTIFICATE-----\n é \n'

function sync(configMap: ConfigMap | undefined, options: DriveOptions = {}) {
  const { lister } = fakeInformers(configMap === undefined ? [] : [configMap]).informer(
    resources.configmaps,
  )
  return drive(reconcile(observe('ns', lister), BUNDLE), options)
}

function published(overrides: Partial<ConfigMap> = {}): ConfigMap {
  const fresh = newConfigMap('ns', BUNDLE)
  return {
    ...fresh,
    ...overrides,
    metadata: { ...fresh.metadata, resourceVersion: '7', ...overrides.metadata },
  }
}

function namespace(phase: 'Active' | 'Terminating'): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'ns' }, status: { phase } }
}

function sole<T>(list: readonly T[]): T {
  assert.equal(list.length, 1)
  return list[0]!
}

test('Given a new namespace, then CREATE of `kube-root-ca.crt`', () => {
  assert.deepEqual([...namespaceWatch.onAdd!(namespace('Active'))], ['ns'])
  assert.deepEqual(sync(undefined).writes, [
    {
      verb: 'create',
      type: resources.configmaps,
      namespace: 'ns',
      object: {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'kube-root-ca.crt',
          namespace: 'ns',
          annotations: { 'kubernetes.io/description': DESCRIPTION_TEXT },
        },
        data: { 'ca.crt': BUNDLE },
      },
    },
  ])
})

test('Given another ConfigMap is deleted or updated, then nothing', () => {
  const other: ConfigMap = { ...published(), metadata: { name: 'other', namespace: 'ns' } }
  assert.deepEqual([...configMapWatch.onDelete!(other)], [])
  assert.deepEqual([...configMapWatch.onUpdate!(other, other)], [])
})

test('Given `kube-root-ca.crt` is deleted, then CREATE, tombstones included', () => {
  assert.deepEqual([...configMapWatch.onDelete!(published())], ['ns'])
  assert.deepEqual(
    [
      ...configMapWatch.onDelete!(
        new DeletedFinalStateUnknown<ConfigMap>('ns/kube-root-ca.crt', undefined),
      ),
    ],
    ['ns'],
  )
  assert.deepEqual(
    [...configMapWatch.onDelete!(new DeletedFinalStateUnknown<ConfigMap>('ns/other', undefined))],
    [],
  )
})

const wrong: readonly [string, Partial<ConfigMap>][] = [
  ['a key is added to it', { data: { 'ca.crt': BUNDLE, more: 'x' } }],
  ['`ca.crt` is changed', { data: { 'ca.crt': BUNDLE.trim() } }],
  ['`data` is missing', { data: undefined }],
  ['`data` is empty', { data: {} }],
]
test('Given a key is added to it, or `ca.crt` is changed, then UPDATE back to the exact data', () => {
  for (const [, overrides] of wrong.slice(0, 2)) {
    const write = sole(sync(published(overrides)).writes)
    assert.ok(write.verb === 'update')
    assert.deepEqual((write.object as ConfigMap).data, { 'ca.crt': BUNDLE })
  }
})

for (const [what, overrides] of wrong.slice(2)) {
  test(`Given ${what}, then UPDATE back to the exact data`, () => {
    const { writes } = sync(published(overrides))
    const write = sole(writes)
    assert.ok(write.verb === 'update')
    assert.deepEqual((write.object as ConfigMap).data, { 'ca.crt': BUNDLE })
    assert.equal(write.object.metadata?.resourceVersion, '7')
    assert.equal(write.subresource, undefined)
  })
}

test('an update keeps binaryData, labels and other annotations, and overwrites the description', () => {
  const changed = published({
    data: {},
    binaryData: { b: 'eA==' },
    metadata: {
      labels: { l: 'x' },
      annotations: { 'kubernetes.io/description': 'mine', other: 'y' },
    },
  })
  const write = sole(sync(changed).writes)
  assert.ok(write.verb === 'update')
  const object = write.object as ConfigMap
  assert.deepEqual(object.binaryData, { b: 'eA==' })
  assert.deepEqual(object.metadata?.labels, { l: 'x' })
  assert.deepEqual(object.metadata?.annotations, {
    'kubernetes.io/description': DESCRIPTION_TEXT,
    other: 'y',
  })
})

test('Given a namespace updated to Terminating, then nothing', () => {
  assert.deepEqual([...namespaceWatch.onUpdate!(namespace('Active'), namespace('Terminating'))], [])
  assert.deepEqual([...namespaceWatch.onUpdate!(namespace('Active'), namespace('Active'))], ['ns'])
  assert.equal(namespaceWatch.onDelete, undefined)
})

test('Given right data but no annotation, then UPDATE', () => {
  assert.equal(sync(published({ metadata: { annotations: {} } })).writes.length, 1)
  assert.equal(
    sync(published({ metadata: { annotations: { 'kubernetes.io/description': '' } } })).writes
      .length,
    1,
  )
})

test('Given right data and the annotation equal or with another text, then no call', () => {
  assert.deepEqual(sync(published()).effects, [])
  assert.deepEqual(
    sync(published({ metadata: { annotations: { 'kubernetes.io/description': 'other' } } }))
      .effects,
    [],
  )
})

test('ConfigMap adds queue nothing', () => assert.equal(configMapWatch.onAdd, undefined))

test('a CREATE refused because the namespace is gone or terminating is done without retry', () => {
  const refusals = [
    refused(404, 'NotFound'),
    refused(403, 'Forbidden', 'x', 'NamespaceTerminating'),
  ]
  for (const refusal of refusals)
    assert.deepEqual(sync(undefined, { onWrite: () => refusal }).result, {})
})

test('AlreadyExists on CREATE is not success here: it is retried until the cache shows the object, then compared.', () => {
  const exists = refused(409, 'AlreadyExists')
  assert.ok(!exists.ok)
  assert.equal(sync(undefined, { onWrite: () => exists }).result.error, exists.error)
})

test('errors of an UPDATE, conflicts included, are returned and retried', () => {
  const conflict = refused(409, 'Conflict')
  assert.ok(!conflict.ok)
  assert.equal(
    sync(published({ data: {} }), { onWrite: () => conflict }).result.error,
    conflict.error,
  )
})

test('Given nil error, an API 404, an API status without code, a plain error, then codes 200, 404, 500, 500', () => {
  const codes = [undefined, refusal(404, 'NotFound'), refusal(0, ''), new Error('plain')].map(
    syncCode,
  )
  assert.deepEqual(codes, ['200', '404', '500', '500'])
  assert.equal(syncCode(new Error('wrapped', { cause: refusal(404, 'NotFound') })), '500')
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault } = rootCaCertificatePublisherController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault],
    [
      'root-ca-certificate-publisher-controller',
      ['root-ca-cert-publisher'],
      'root-ca-cert-publisher',
      true,
    ],
  )
})
