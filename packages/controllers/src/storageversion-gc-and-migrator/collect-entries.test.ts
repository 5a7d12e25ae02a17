import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, Lease, ServerStorageVersion, StorageVersion } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Outcome } from '@gyropilot/runtime'
import { drive, fakeInformers, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { collectEntries, collectServer } from './collect-entries.ts'
import {
  storageVersionGarbageCollectorController,
  storageVersionLogics,
} from './garbage-collector.ts'
import { STORAGE_VERSIONS, withEntries } from './storage-version.ts'

const IDENTITY = 'apiserver.kubernetes.io/identity'
const EARLIER = '2020-01-01T00:00:00Z'
const NOW = formatTime(NOW_MS)

function lease(
  name: string,
  label: string | undefined = 'kube-apiserver',
  namespace = 'kube-system',
): Lease {
  const labels: Record<string, string> = label === '' ? {} : { [IDENTITY]: label }
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace, labels },
  }
}

const entry = (apiServerID: string, encodingVersion: string): ServerStorageVersion => ({
  apiServerID,
  encodingVersion,
  decodableVersions: [encodingVersion],
})

const condition = (isEqual: boolean, lastTransitionTime: string) => ({
  type: 'AllEncodingVersionsEqual',
  status: isEqual ? 'True' : 'False',
  reason: isEqual ? 'CommonEncodingVersionSet' : 'CommonEncodingVersionUnset',
  message: isEqual ? 'Common encoding version set' : 'Common encoding version unset',
  lastTransitionTime,
})

function version(
  entries: readonly ServerStorageVersion[],
  more: StorageVersion['status'] = {},
  name = 'apps.deployments',
): StorageVersion {
  return {
    apiVersion: 'internal.apiserver.k8s.io/v1alpha1',
    kind: 'StorageVersion',
    metadata: { name, resourceVersion: '7' },
    spec: {},
    status: { storageVersions: entries, ...more },
  }
}

interface World {
  readonly leases?: readonly Lease[]
  readonly versions?: readonly StorageVersion[]
  /** Code that a read is refused with: `leases/a`, `storageversions`. */
  readonly refuses?: Readonly<Record<string, number>>
  readonly refusesWrites?: Readonly<Record<string, number>>
}

function outcomes(key: string, run: 'server' | 'entries', world: World) {
  const { leases = [], versions = [], refuses = {}, refusesWrites = {} } = world
  const found = (object: KubernetesObject | undefined): Outcome =>
    object === undefined ? refused(404, 'NotFound') : { ok: true, object }
  const rules = run === 'server' ? collectServer(key) : collectEntries(key)
  const { writes, result } = drive(rules, {
    nowMs: NOW_MS,
    onRead(read) {
      assert.ok(read.verb !== 'discover')
      const name = read.verb === 'get' ? `/${read.name}` : ''
      const code = refuses[`${read.type.resource}${name}`]
      if (code !== undefined) return refused(code, 'x', 'no')
      if (read.verb === 'list') return { ok: true, object: { items: versions } as KubernetesObject }
      assert.equal(read.namespace, read.type.namespaced ? 'kube-system' : undefined)
      const all: readonly KubernetesObject[] = read.type === STORAGE_VERSIONS ? versions : leases
      return found(all.find(({ metadata }) => metadata?.name === read.name))
    },
    onWrite(write) {
      const name =
        write.verb === 'update' ? write.object.metadata?.name : 'name' in write && write.name
      const code = refusesWrites[String(name)]
      return code === undefined ? undefined : refused(code, 'x', `no ${String(name)}`)
    },
  })
  const written = writes.map((write) => {
    if (write.verb === 'delete') return { deleted: write.name, options: write.options }
    assert.ok(write.verb === 'update' && write.subresource === 'status')
    return write.object
  })
  return { written, error: (result as { error?: Error } | undefined)?.error?.message }
}

test('Given three API servers with encodings v1, v2, v2 and Lease 1 deleted, then entries 2 and 3, common v2, condition True.', () => {
  const [one, two, three] = [entry('1', 'v1'), entry('2', 'v2'), entry('3', 'v2')]
  const before = version([one, two, three], { conditions: [condition(false, EARLIER)] })
  const world = { leases: [lease('2'), lease('3')], versions: [before] }
  const after = version([two, three], {
    commonEncodingVersion: 'v2',
    conditions: [condition(true, NOW)],
  })
  assert.deepEqual(outcomes('1', 'server', world).written, [after])
})

test('Given different encodings remain, then common version nil, condition False.', () => {
  const [one, two, three] = [entry('1', 'v1'), entry('2', 'v2'), entry('3', 'v3')]
  const before = version([one, two, three], { conditions: [condition(false, EARLIER)] })
  const after = version([two, three], { conditions: [condition(false, EARLIER)] })
  assert.deepEqual(outcomes('1', 'server', { versions: [before] }).written, [after])
})

test('Given an entry without Lease, then only it is removed; given the last Lease deleted, then the object is deleted.', () => {
  const [one, two] = [entry('1', 'v1'), entry('2', 'v2')]
  const after = version([two], { commonEncodingVersion: 'v2', conditions: [condition(true, NOW)] })
  const world = { leases: [lease('2')], versions: [version([one, two])] }
  assert.deepEqual(outcomes('apps.deployments', 'entries', world).written, [after])
  const gone = [{ deleted: 'apps.deployments', options: undefined }]
  assert.deepEqual(outcomes('1', 'server', { versions: [version([one])] }).written, gone)
  assert.deepEqual(
    outcomes('apps.deployments', 'entries', { versions: [version([one])] }).written,
    gone,
  )
})

test('a Lease that is there again, or that cannot be read, changes nothing; only 404 goes on', () => {
  const versions = [version([entry('1', 'v1')])]
  assert.deepEqual(outcomes('1', 'server', { versions, leases: [lease('1')] }), {
    written: [],
    error: undefined,
  })
  assert.deepEqual(outcomes('1', 'server', { versions, refuses: { 'leases/1': 500 } }), {
    written: [],
    error: 'no',
  })
  assert.deepEqual(outcomes('1', 'server', { versions, refuses: { storageversions: 500 } }), {
    written: [],
    error: 'no',
  })
})

test('every StorageVersion with the server is written, errors are collected, and a 409 is retried', () => {
  const versions = [
    version([entry('1', 'v1')], {}, 'a'),
    version([entry('2', 'v1')], {}, 'other'),
    version([entry('1', 'v1'), entry('2', 'v2')], {}, 'b'),
    version([], {}, 'empty'),
    version([entry('1', 'v1')], {}, 'c'),
  ]
  const { written, error } = outcomes('1', 'server', {
    versions,
    refusesWrites: { a: 500, b: 409 },
  })
  assert.equal(written.length, 3)
  assert.equal(error, '[no a, no b]')
})

test('a StorageVersion whose entries all have Leases, or that is gone, is left alone; an error of its GET is retried', () => {
  const world = { leases: [lease('1')], versions: [version([entry('1', 'v1')])] }
  const nothing = { written: [], error: undefined }
  assert.deepEqual(outcomes('apps.deployments', 'entries', world), nothing)
  assert.deepEqual(outcomes('missing', 'entries', world), nothing)
  assert.deepEqual(outcomes('empty', 'entries', { versions: [version([], {}, 'empty')] }), nothing)
  const refuses = { 'storageversions/apps.deployments': 500 }
  assert.deepEqual(outcomes('apps.deployments', 'entries', { ...world, refuses }), {
    written: [],
    error: 'no',
  })
  const refusesWrites = { 'apps.deployments': 409 }
  const conflict = outcomes('apps.deployments', 'entries', {
    versions: world.versions,
    refusesWrites,
  })
  assert.equal(conflict.error, 'no apps.deployments')
})

test('any GET error counts as invalid, and so does a Lease with another label or without it', () => {
  const versions = [version(['1', '2', '3', '4'].map((id) => entry(id, 'v1')))]
  const leases = [lease('1', 'kubelet'), lease('2', ''), lease('3'), lease('4')]
  const { written } = outcomes('apps.deployments', 'entries', {
    versions,
    leases,
    refuses: { 'leases/4': 500 },
  })
  const [only] = written as StorageVersion[]
  assert.deepEqual(
    only?.status?.storageVersions?.map(({ apiServerID }) => apiServerID),
    ['3'],
  )
})

const TIMES: readonly (readonly [
  string,
  string | undefined,
  boolean,
  readonly string[],
  string,
])[] = [
  ['True stays, same version', 'v1', true, ['v1', 'v1'], EARLIER],
  ['True stays, another version', 'v1', true, ['v2'], NOW],
  ['False to True', undefined, false, ['v2'], NOW],
  ['True to False', 'v1', true, ['v1', 'v2'], NOW],
  ['False stays', undefined, false, ['v1', 'v2'], EARLIER],
]
test('lastTransitionTime changes when the status changes or when the common version changes to another one', () => {
  for (const [title, common, was, versions, time] of TIMES) {
    const before = version([], {
      ...(common === undefined ? {} : { commonEncodingVersion: common }),
      conditions: [condition(was, EARLIER)],
    })
    const after = withEntries(
      before,
      versions.map((each, index) => entry(`${index}`, each)),
      NOW,
    )
    assert.equal(after.status?.conditions?.[0]?.lastTransitionTime, time, title)
    assert.equal('commonEncodingVersion' in after.status!, new Set(versions).size === 1, title)
  }
  const first = withEntries(version([]), [entry('1', 'v1')], NOW)
  assert.deepEqual(first.status?.conditions, [condition(true, NOW)])
})

test('observedGeneration is the generation where there is one', () => {
  const object = version([])
  const generated = { ...object, metadata: { ...object.metadata, generation: 4 } }
  const [said] = withEntries(generated, [entry('1', 'v1')], NOW).status?.conditions ?? []
  assert.equal(said?.observedGeneration, 4)
})

test('only deleted Leases of API servers in kube-system are queued', () => {
  const [{ watches }] = storageVersionLogics({ informers: fakeInformers() })
  const { onAdd, onUpdate, onDelete, type } = watches[0]!
  assert.deepEqual([onAdd, onUpdate, type], [undefined, undefined, resources.leases])
  assert.deepEqual([...onDelete!(lease('1'))], ['1'])
  assert.deepEqual([...onDelete!(lease('1', 'kube-apiserver', 'default'))], [])
  assert.deepEqual([...onDelete!(lease('1', 'kubelet'))], [])
  assert.deepEqual([...onDelete!(lease('1', ''))], [])
  assert.deepEqual(
    [...onDelete!(new DeletedFinalStateUnknown<Lease>('kube-system/1', undefined))],
    [],
  )
})

test('a StorageVersion is queued while it names a server that the cache does not know', () => {
  const leases = [lease('1'), lease('2', 'kubelet'), lease('3', 'kube-apiserver', 'default')]
  const [, { watches, alsoAwait }] = storageVersionLogics({ informers: fakeInformers(leases) })
  const { onAdd, onUpdate, onDelete } = watches[0]!
  const queued = (...ids: readonly string[]) => {
    const object = version(ids.map((id) => entry(id, 'v1')))
    assert.deepEqual([...onUpdate!(version([]), object)], [...onAdd!(object)])
    return [...onAdd!(object)].length
  }
  assert.deepEqual(
    [queued('1'), queued('2'), queued('3'), queued('1', '9'), queued()],
    [0, 1, 1, 1, 0],
  )
  assert.equal(onDelete, undefined)
  assert.equal(alsoAwait?.[0]?.type, resources.leases)
})

test('it needs APIServerIdentity and StorageVersionAPI; names are those of the page', async () => {
  const { name, aliases, serviceAccount, featureGates } = storageVersionGarbageCollectorController
  assert.deepEqual(
    [name, aliases, serviceAccount, featureGates],
    [
      'storageversion-garbage-collector-controller',
      ['storage-version-gc'],
      'storage-version-garbage-collector',
      ['APIServerIdentity', 'StorageVersionAPI'],
    ],
  )
  assert.ok(storageVersionGarbageCollectorController.enabledByDefault)
  const built = async (gates: Readonly<Record<string, boolean>>) => {
    const configuration = { ...defaultControllersConfiguration, featureGates: gates }
    return await storageVersionGarbageCollectorController.build(testContext({ configuration }))
  }
  assert.equal(await built({}), undefined)
  assert.equal(await built({ StorageVersionAPI: true, APIServerIdentity: false }), undefined)
  assert.ok(await built({ StorageVersionAPI: true }))
  const logics = storageVersionLogics({ informers: fakeInformers() })
  assert.deepEqual(
    logics.map(({ queueName, workers, observe }) => [queueName, workers, observe('key')]),
    [
      ['storage_version_garbage_collector_leases', 1, 'key'],
      ['storage_version_garbage_collector_storageversions', 1, 'key'],
    ],
  )
})

test('the condition has a new time where one common version follows another, and it alone', () => {
  const other = { ...condition(true, EARLIER), type: 'Other' }
  const times = (
    entries: readonly ServerStorageVersion[],
    commonEncodingVersion: string | undefined,
    isEqual: boolean,
  ) => {
    const conditions = [other, condition(isEqual, EARLIER)]
    const before = version([], { commonEncodingVersion, conditions })
    const { status } = withEntries(before, entries, NOW)
    return status?.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)
  }
  const [one, two] = [entry('a', 'v1'), entry('b', 'v2')]
  assert.deepEqual(times([two], 'v1', true), [EARLIER, NOW])
  assert.deepEqual(times([one], 'v1', true), [EARLIER, EARLIER])
  assert.deepEqual(times([one], undefined, true), [EARLIER, EARLIER])
  assert.deepEqual(times([one, two], 'v1', false), [EARLIER, EARLIER])
})
