import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import type { OutsideCall } from '@gyropilot/runtime'
import { refused } from '../../workload-support/fixtures.ts'
import { claim, storageClass, volume, world } from '../fixtures.ts'
import type { ClaimOptions, SyncOptions } from '../fixtures.ts'
import { folderCalls } from './host-path.ts'

const PLUGIN = 'kubernetes.io/host-path'
const SELECTED = 'volume.kubernetes.io/selected-node'
const ASKED = {
  'volume.kubernetes.io/storage-provisioner': PLUGIN,
  'volume.beta.kubernetes.io/storage-provisioner': PLUGIN,
}
const settings = {
  enableHostPathProvisioner: true,
  hostFolders: { make: async () => {}, remove: async () => {} },
}
const failure = (text: string) => ({ ok: false as const, error: new Error(text), attempted: true })

function asking(given: ClaimOptions = {}) {
  return claim('c', { className: 'local', annotations: ASKED, ...given })
}

function local(
  options: SyncOptions = {},
  objects: readonly KubernetesObject[] = [asking()],
  more = {},
) {
  const calls: string[] = []
  const onOutside = (call: OutsideCall) => {
    calls.push(
      `${call.name} ${String(call.arguments[0]).replace(/[0-9a-f]{8}-[0-9a-f-]{27}$/, 'ID')}`,
    )
    return options.onOutside?.(call) ?? { ok: true as const, object: undefined }
  }
  const here = world([storageClass('local', PLUGIN, more), ...objects], {
    settings,
    ...options,
    onOutside,
  })
  return { ...here, calls }
}

test('a folder is made and its volume saved, bound from the first', () => {
  const here = local()
  const { writes, told, done } = here.syncClaim()!
  assert.deepEqual(here.calls, ['makeFolder /tmp/hostpath_pv/ID'])
  assert.deepEqual(done, ['create PersistentVolume pvc-c-uid'])
  assert.deepEqual(told, [
    `ProvisioningSucceeded: Successfully provisioned volume pvc-c-uid using ${PLUGIN}`,
  ])
  const [{ object }] = writes as unknown as [{ object: PersistentVolume }]
  const path = object.spec?.hostPath?.path
  assert.match(path ?? '', /^\/tmp\/hostpath_pv\/[0-9a-f-]{36}$/)
  assert.deepEqual(object, {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: 'pvc-c-uid',
      annotations: {
        'kubernetes.io/createdby': 'hostpath-dynamic-provisioner',
        'pv.kubernetes.io/bound-by-controller': 'yes',
        'pv.kubernetes.io/provisioned-by': PLUGIN,
      },
      finalizers: ['kubernetes.io/pv-controller'],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: 'ns',
        name: 'c',
        uid: 'c-uid',
        resourceVersion: '10',
      },
      hostPath: { path },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'local',
    },
    status: { phase: 'Bound' },
  })
  assert.deepEqual(here.syncClaim()?.effects, [], 'it is there')
  assert.deepEqual(provisioningsRan(here), [1, 0])
})

/** How many runs of the plugin succeeded, and how many failed. */
function provisioningsRan({ metrics }: Pick<ReturnType<typeof world>, 'metrics'>) {
  const labels = { volume_plugin: PLUGIN, operation_name: 'volume_provision', migrated: 'false' }
  return ['success', 'fail-unknown'].map(
    (status) =>
      metrics.observed('storage_operation_duration_seconds', { ...labels, status }).length,
  )
}

test('a volume has the modes of its claim, and may be written by one node where it says none', () => {
  const modesOf = (spec: PersistentVolumeClaim['spec']) => {
    const { writes } = local({}, [asking({ spec })]).syncClaim()!
    const [{ object }] = writes as unknown as [{ object: PersistentVolume }]
    return [object.spec?.accessModes, object.spec?.volumeMode]
  }
  assert.deepEqual(modesOf({ accessModes: ['ReadWriteMany'], volumeMode: 'Filesystem' }), [
    ['ReadWriteMany'],
    'Filesystem',
  ])
  assert.deepEqual(modesOf({ accessModes: undefined }), [['ReadWriteOnce'], undefined])
})

test('a claim that could not be written is tried again', () => {
  const onWrite = () => refused(500, 'InternalError')
  const asked = local({ onWrite }, [asking({ annotations: {} })]).syncClaim()!
  assert.deepEqual([asked.error, asked.told], ['InternalError', []])
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
  const annotations = { ...ASKED, [SELECTED]: 'n' }
  const failing = { onWrite, onOutside: () => failure('no space') }
  assert.equal(local(failing, [asking({ annotations }), node]).syncClaim()?.error, 'InternalError')
})

test('a volume that is gone after it was seen is made again', () => {
  const here = local()
  here.syncClaim()
  // Of another claim: this one cannot be bound to it.
  const claimRef = { namespace: 'ns', name: 'other', uid: 'other-uid' }
  const seen = volume('pvc-c-uid', { claimRef })
  here.informers.apply(resources.persistentvolumes, seen)
  here.syncClaim()
  here.informers.remove(resources.persistentvolumes, seen)
  here.syncClaim()
  assert.equal(here.calls.length, 2)
})

test('folders are made and removed by those who can', async () => {
  const done: string[] = []
  const perform = folderCalls({
    make: async (path) => void done.push(`make ${path}`),
    remove: async (path) => void done.push(`remove ${path}`),
  })
  await perform({ name: 'makeFolder', arguments: ['/tmp/a'] })
  await perform({ name: 'removeFolder', arguments: ['/tmp/b'] })
  assert.deepEqual(done, ['make /tmp/a', 'remove /tmp/b'])
})

test('one that is kept has no finalizer', () => {
  const { writes } = local({}, [asking()], { reclaimPolicy: 'Retain' }).syncClaim()!
  const [{ object }] = writes as unknown as [{ object: PersistentVolume }]
  assert.equal(object.metadata?.finalizers, undefined)
  assert.equal(object.spec?.persistentVolumeReclaimPolicy, 'Retain')
})

test('a claim is told why there is no volume, and only what may pass is tried again', async () => {
  const annotations = { ...ASKED, [SELECTED]: 'nowhere' }
  const gone = local({}, [asking({ annotations })])
  assert.deepEqual(gone.syncClaim()?.told, [
    'ProvisioningFailed: Failed to get target node: node "nowhere" not found',
  ])
  const labels = { plugin_name: PLUGIN, operation_name: 'provision' }
  assert.equal(gone.metrics.value('volume_operation_errors_total', labels), 1)
  const block = local({}, [asking({ spec: { volumeMode: 'Block' } })])
  const text = `ProvisioningFailed: Failed to provision volume with StorageClass "local": ${PLUGIN} does not support block volume provisioning`
  assert.deepEqual(block.syncClaim()?.told, [text])
  assert.deepEqual(block.syncClaim()?.told, [], 'not at once again')
  await block.clock.advance(500)
  assert.deepEqual(block.syncClaim()?.told, [text])
  assert.deepEqual(block.calls, [])
  assert.equal(block.metrics.value('volume_operation_errors_total', labels), 2)
  assert.deepEqual(provisioningsRan(block), [0, 2])
})

test('what a claim is told of is not told again when the claim comes back at once with its annotations', async () => {
  const here = local({}, [asking({ annotations: { ...ASKED, [SELECTED]: 'nowhere' } })])
  assert.equal(here.syncClaim()!.told.length, 1)
  assert.deepEqual(here.syncClaim()!.told, [])
  await here.clock.advance(60_000)
  assert.equal(here.syncClaim()!.told.length, 1)
})

test('however late the claim comes back with its annotations, it has been told already; the next look tells it again', async () => {
  const onWrite = ({ object }: { object?: KubernetesObject }) => ({
    ok: true as const,
    object: { ...object, metadata: { ...object?.metadata, resourceVersion: '9' } },
  })
  const here = local(
    { settings: { enableHostPathProvisioner: false }, onWrite: onWrite as never },
    [asking({ annotations: {} })],
  )
  const first = here.syncClaim()!
  assert.equal(first.told.length, 1)
  const [{ object }] = first.writes as unknown as [{ object: PersistentVolumeClaim }]
  const written = { ...object, metadata: { ...object.metadata, resourceVersion: '9' } }
  here.informers.apply(resources.persistentvolumeclaims, written)
  await here.clock.advance(60_000)
  assert.deepEqual(here.syncClaim()!.told, [])
  assert.equal(here.syncClaim()!.told.length, 1)
})

test('a claim that changed after it was told is told again', async () => {
  const annotations = { ...ASKED }
  const here = local({ settings: { enableHostPathProvisioner: false } }, [asking({ annotations })])
  assert.equal(here.syncClaim()!.told.length, 1)
  await here.clock.advance(60_000)
  assert.equal(here.syncClaim()!.told.length, 1)
  // Its annotations were written when it was told; it comes back as somebody changed it since.
  const other = local({ settings: { enableHostPathProvisioner: false } }, [
    asking({ annotations: {} }),
  ])
  assert.equal(other.syncClaim()!.told.length, 1)
  await other.clock.advance(60_000)
  const changed = asking({ annotations, resourceVersion: '200' })
  other.informers.apply(resources.persistentvolumeclaims, changed)
  assert.equal(other.syncClaim()!.told.length, 1)
})

test('a folder that cannot be made lets the scheduler choose another node', () => {
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
  const annotations = { ...ASKED, [SELECTED]: 'n' }
  const here = local({ onOutside: () => failure('no space') }, [asking({ annotations }), node])
  const { told, writes } = here.syncClaim()!
  assert.deepEqual(told, [
    'ProvisioningFailed: Failed to provision volume with StorageClass "local": no space',
  ])
  assert.deepEqual(
    writes.map((write) => ('object' in write ? write.object.metadata?.annotations : undefined)),
    [ASKED],
  )
})

test('a volume that cannot be saved is tried five times, then its folder goes', async () => {
  const here = local({ onWrite: () => refused(500, 'InternalError') })
  for (let tries = 1; tries < 5; tries++)
    assert.deepEqual(here.syncClaim()?.result, { requeueAfterMs: 10_000 })
  const last = here.syncClaim()!
  assert.match(
    last.told.join(),
    /^ProvisioningFailed: Error creating provisioned PV object for claim ns\/c: .*\. Deleting the volume\.$/,
  )
  assert.equal(last.result, undefined)
  assert.deepEqual(here.calls, [
    'makeFolder /tmp/hostpath_pv/ID',
    'removeFolder /tmp/hostpath_pv/ID',
  ])
  assert.deepEqual(here.syncClaim()?.effects, [], 'not at once again')
  await here.clock.advance(500)
  here.syncClaim()
  assert.equal(here.calls.length, 3, 'from the beginning')
})

test('a folder that stays is told of after five tries', () => {
  const here = local({
    onWrite: () => refused(500, 'InternalError'),
    onOutside: ({ name }) => (name === 'makeFolder' ? undefined : failure('busy')),
  } as SyncOptions)
  for (let tries = 1; tries < 9; tries++)
    assert.deepEqual(here.syncClaim()?.result, { requeueAfterMs: 10_000 })
  assert.deepEqual(here.syncClaim()?.told, [
    'ProvisioningCleanupFailed: Error cleaning provisioned volume for claim ns/c: busy. Please delete manually.',
  ])
  assert.equal(here.calls.filter((call) => call.startsWith('remove')).length, 5)
})

test('what was begun for a claim is not taken up for its namesake', () => {
  let refuses = true
  const here = local({ onWrite: () => (refuses ? refused(500, 'InternalError') : undefined) })
  here.syncClaim()
  refuses = false
  here.informers.apply(
    resources.persistentvolumeclaims,
    asking({ uid: 'other-uid', resourceVersion: '11' }),
  )
  assert.deepEqual(here.syncClaim()?.done, ['create PersistentVolume pvc-other-uid'])
  assert.equal(here.calls.filter((call) => call.startsWith('make')).length, 2)
})

test('provisioning is timed from the first try until the claim is bound', async () => {
  const provisioner = 'disk.example.com'
  const annotations = Object.fromEntries(Object.keys(ASKED).map((key) => [key, provisioner]))
  const outside = world([
    storageClass('fast', provisioner),
    claim('c', { className: 'fast', annotations }),
  ])
  outside.syncClaim()
  await outside.clock.advance(2_000)
  outside.syncClaim()
  const made: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v', uid: 'v-uid', resourceVersion: '50' },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      storageClassName: 'fast',
      claimRef: { namespace: 'ns', name: 'c', uid: 'c-uid' },
    },
    status: { phase: 'Available' },
  }
  outside.informers.apply(resources.persistentvolumes, made)
  outside.syncClaim()
  const labels = { plugin_name: provisioner, operation_name: 'provision' }
  assert.deepEqual(outside.metrics.observed('volume_operation_total_seconds', labels), [2])
})
