import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, Pod, PodGroup } from '@gyropilot/api'
import { POD_GROUPS, resources } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { drive, testContext } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { pod as plainPod, refused, secondsAgo } from '../workload-support/fixtures.ts'
import { FINALIZER } from './config.ts'
import { activePodsByGroup } from './group-pods.ts'
import { podGroupProtectionController, podGroupProtectionLogic } from './index.ts'
import { groupWatch, podWatch } from './watches.ts'

type Phase = 'Pending' | 'Running' | 'Unknown' | 'Succeeded' | 'Failed'

function group(finalizers: readonly string[] = [FINALIZER], deleting = true): PodGroup {
  return {
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    kind: 'PodGroup',
    metadata: {
      name: 'g',
      namespace: 'ns',
      uid: 'g-uid',
      resourceVersion: '7',
      finalizers,
      ...(deleting ? { deletionTimestamp: secondsAgo(1) } : {}),
    },
    spec: { schedulingPolicy: { basic: {} } },
  }
}

interface Given {
  readonly name?: string
  readonly uid?: string
  readonly phase?: Phase
  readonly of?: string | null
  readonly deleting?: boolean
  readonly node?: string
}

function pod(given: Given = {}): Pod {
  const { of = 'g', phase = 'Running' } = given
  const made = plainPod({ ...given, phase })
  return of === null
    ? made
    : { ...made, spec: { ...made.spec!, schedulingGroup: { podGroupName: of } } }
}

/** What is written in a sync of the group. */
function sync(objects: readonly KubernetesObject[], code?: number) {
  const context = testContext({ configuration: defaultControllersConfiguration, cached: objects })
  const logic = podGroupProtectionLogic(context)
  const observed = logic.observe('ns/g')
  if (observed === undefined) return { finalizers: [], error: undefined }
  const { writes, result } = drive(logic.reconcile(observed), {
    onWrite: () => (code === undefined ? undefined : refused(code, 'x', 'no')),
  })
  const finalizers = writes.map((write) => {
    assert.ok(write.verb === 'update' && write.subresource === undefined)
    assert.equal(write.object.metadata?.resourceVersion, '7')
    return write.object.metadata?.finalizers
  })
  return { finalizers, error: (result as { error?: Error } | undefined)?.error?.message }
}

const active = pod()
const done = pod({ name: 'done', phase: 'Succeeded' })
const failed = pod({ name: 'failed', phase: 'Failed' })

const CASES: readonly (readonly [string, readonly KubernetesObject[], readonly string[][]])[] = [
  [
    'Given a new PodGroup without finalizer, with or without active Pods, then no request: without',
    [group([], false)],
    [],
  ],
  ['a new PodGroup without finalizer, with active Pods', [group([], false), active], []],
  [
    'Given a PodGroup with finalizer, not deleted, then no request',
    [group([FINALIZER], false), done],
    [],
  ],
  [
    'Given a deleted PodGroup with finalizer and no active Pods, or only finished ones, then UPDATE without the finalizer: none',
    [group()],
    [[]],
  ],
  ['only finished ones', [group(), done, failed], [[]]],
  [
    'Given at least one active Pod, alone or beside finished ones, then the finalizer stays: alone',
    [group(), active],
    [],
  ],
  ['beside finished ones', [group(), active, done, failed], []],
  [
    'Given a deleted PodGroup without finalizer, then no request, also with active Pods',
    [group(['other']), active],
    [],
  ],
  [
    'a terminating Pod that is still Running keeps the group',
    [group(), pod({ deleting: true })],
    [],
  ],
  [
    'a Pending, unscheduled Pod keeps the group',
    [group(), pod({ phase: 'Pending', node: '' })],
    [],
  ],
  ['Pods of another group do not count', [group(), pod({ of: 'other' })], [[]]],
  ['a Pod without a group does not count', [group(), pod({ of: null })], [[]]],
  [
    'Other finalizers stay; order of the rest is kept',
    [group(['b', FINALIZER, 'a', FINALIZER])],
    [['b', 'a']],
  ],
  ['a group that is gone', [done], []],
]
for (const [title, objects, finalizers] of CASES) {
  test(title, () => assert.deepEqual(sync(objects).finalizers, finalizers))
}

test('Pods in other namespaces with the same group name do not count.', () => {
  const { metadata, ...rest } = active
  assert.deepEqual(
    sync([group(), { ...rest, metadata: { ...metadata, namespace: 'other' } }]).finalizers,
    [[]],
  )
})

test('any error of the update is retried, 404 and 409 included', () => {
  for (const code of [404, 409, 500]) assert.equal(sync([group()], code).error, 'no')
})

test('Given phases Pending, Running, Unknown, Succeeded, Failed, then finished only for the last two', () => {
  const phases: readonly Phase[] = ['Pending', 'Running', 'Unknown', 'Succeeded', 'Failed']
  const indexed = phases.filter((phase) => [...activePodsByGroup(pod({ phase }))].length > 0)
  assert.deepEqual(indexed, ['Pending', 'Running', 'Unknown'])
})

test('Given Pods of all kinds, then the index holds only active referenced ones', () => {
  assert.deepEqual([...activePodsByGroup(active)], ['ns/g'])
  assert.deepEqual([...activePodsByGroup(pod({ of: null }))], [])
  assert.deepEqual([...activePodsByGroup(pod({ of: '' }))], [])
  assert.deepEqual([...activePodsByGroup(done)], [])
})

test('Given PodGroup events, then only deletion candidates are queued', () => {
  assert.deepEqual([...groupWatch.onAdd!(group())], ['ns/g'])
  assert.deepEqual([...groupWatch.onUpdate!(group(), group())], ['ns/g'])
  assert.deepEqual([...groupWatch.onAdd!(group([FINALIZER], false))], [])
  assert.deepEqual([...groupWatch.onUpdate!(group(), group([]))], [])
  assert.equal(groupWatch.onDelete, undefined)
})

const unknown: string[] = []
const watch = podWatch((key) => void unknown.push(key))

test('Given the last active Pod is deleted, Succeeded or Failed, then UPDATE without the finalizer: its group is queued', () => {
  assert.deepEqual([...watch.onDelete!(active)], ['ns/g'])
  assert.deepEqual([...watch.onUpdate!(active, pod({ phase: 'Succeeded' }))], ['ns/g'])
  assert.deepEqual([...watch.onUpdate!(active, pod({ phase: 'Failed' }))], ['ns/g'])
})

test('Given a new unscheduled Pod, a Pod without schedulingGroup, or a finished Pod of a missing group, then no request', () => {
  assert.deepEqual([...watch.onAdd!(pod({ phase: 'Pending', node: '' }))], [])
  assert.deepEqual([...watch.onAdd!(pod({ of: null, phase: 'Failed' }))], [])
  assert.deepEqual([...watch.onAdd!(done)], ['ns/g'])
  assert.deepEqual(sync([done]).finalizers, [])
})

test('Given old/new Pod pairs (finish, uid change, delete), then the right groups are queued', () => {
  const other = pod({ uid: 'new', of: 'other' })
  assert.deepEqual([...watch.onUpdate!(active, pod({ node: 'elsewhere' }))], [])
  assert.deepEqual([...watch.onUpdate!(active, other)], ['ns/g'])
  assert.deepEqual(
    [...watch.onUpdate!(active, pod({ uid: 'new', of: 'other', phase: 'Failed' }))],
    ['ns/g', 'ns/other'],
  )
  assert.deepEqual([...watch.onUpdate!(pod({ of: null }), other)], [])
  assert.deepEqual([...watch.onDelete!(pod({ of: null }))], [])
  assert.deepEqual([...watch.onDelete!(new DeletedFinalStateUnknown<Pod>('ns/pod', undefined))], [])
  assert.deepEqual(unknown, ['ns/pod'])
})

test('With the gate off the informers for PodGroups must not be started; names are those of the page', async () => {
  const { name, aliases, serviceAccount, featureGates } = podGroupProtectionController
  assert.deepEqual(
    [name, aliases, serviceAccount, featureGates],
    ['podgroup-protection-controller', [], 'podgroup-protection-controller', ['GenericWorkload']],
  )
  assert.ok(podGroupProtectionController.enabledByDefault)
  assert.ok(POD_GROUPS.namespaced)
  const built = async (gates: Readonly<Record<string, boolean>>) => {
    const configuration = { ...defaultControllersConfiguration, featureGates: gates }
    return await podGroupProtectionController.build(testContext({ configuration }))
  }
  assert.equal(await built({}), undefined)
  assert.equal(await built({ GenericWorkload: false }), undefined)
  assert.ok(await built({ GenericWorkload: true }))
  const logic = podGroupProtectionLogic(
    testContext({ configuration: defaultControllersConfiguration }),
  )
  assert.deepEqual(
    [logic.queueName, logic.workers, logic.watches.length],
    ['podgroupprotection', 1, 2],
  )
  assert.equal(logic.watches[1]?.type, resources.pods)
})
