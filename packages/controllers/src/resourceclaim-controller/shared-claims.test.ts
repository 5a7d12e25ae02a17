/** Claims of PodGroups (gate DRAWorkloadResourceClaims). What is promised here was seen on kube-controller-manager 1.36.2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { POD_GROUPS, resources } from '@gyropilot/api'
import type {
  KubernetesObject,
  Pod,
  PodGroup,
  PodResourceClaim,
  ResourceClaim,
} from '@gyropilot/api'
import type { Outcome, Write } from '@gyropilot/runtime'
import { RecordingMetrics, drive, fakeInformers } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { refused } from '../workload-support/fixtures.ts'
import { consumerOf, ownerOf } from './claim-users.ts'
import { claim, consumer, fromTemplate, pod, template } from './fixtures.ts'
import type { PodOptions } from './fixtures.ts'
import { resourceClaimLogic } from './index.ts'

interface GroupOptions {
  readonly uid?: string
  readonly entries?: readonly PodResourceClaim[]
  readonly recorded?: string | null
  readonly deleting?: boolean
}

/** With the entry of `pod()`: `gpu`, of the template `tpl`. */
function group(options: GroupOptions = {}): PodGroup {
  const { uid = 'g-uid', entries = [fromTemplate('gpu')], recorded, deleting } = options
  return {
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    kind: 'PodGroup',
    metadata: {
      namespace: 'ns',
      name: 'g',
      uid,
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
    spec: { schedulingPolicy: { basic: {} }, resourceClaims: entries },
    status: {
      ...(recorded !== undefined && {
        resourceClaimStatuses: [
          recorded === null ? { name: 'gpu' } : { name: 'gpu', resourceClaimName: recorded },
        ],
      }),
    },
  }
}

function member(options: PodOptions = {}): Pod {
  const made = pod(options)
  return { ...made, spec: { ...made.spec!, schedulingGroup: { podGroupName: 'g' } } }
}

function groupClaim(name: string, owner = group(), options: Parameters<typeof claim>[1] = {}) {
  const metadata = {
    ownerReferences: [ownerOf(POD_GROUPS, owner)],
    annotations: { 'resource.kubernetes.io/pod-claim-name': 'gpu' },
  }
  return claim(name, { ...options, metadata })
}

function logicOf(
  objects: readonly KubernetesObject[],
  featureGates: Readonly<Record<string, boolean>> = { DRAWorkloadResourceClaims: true },
) {
  return resourceClaimLogic({
    informers: fakeInformers(objects),
    configuration: { ...defaultControllersConfiguration, featureGates },
    metrics: new RecordingMetrics(),
  })
}

function sync(key: string, objects: readonly KubernetesObject[], options: DriveOptions = {}) {
  const logic = logicOf(objects)
  const observed = logic.observe(key)
  assert.ok(observed)
  const made = (write: Write): Outcome | undefined =>
    write.verb === 'create'
      ? {
          ok: true,
          object: { ...write.object, metadata: { ...write.object.metadata, name: 'made' } },
        }
      : undefined
  const driven = drive(logic.reconcile(observed), { onWrite: made, ...options })
  return { ...driven, error: (driven.result?.error as Error | undefined)?.message }
}

/** What a status write says: names by entry, or who a claim is reserved for. */
function story(writes: readonly Write[]): readonly unknown[] {
  return writes.map((write) => {
    if (write.verb === 'create') return `create ${write.object.metadata?.generateName}`
    if (write.verb === 'apply')
      return ((write.object as Pod).status?.resourceClaimStatuses ?? []).map(
        ({ name, resourceClaimName }) => `${name}=${resourceClaimName}`,
      )
    if (write.verb !== 'update') return write.verb
    return ((write.object as ResourceClaim).status?.reservedFor ?? []).map(
      ({ apiGroup = '', resource, name }) => `${apiGroup}/${resource}/${name}`,
    )
  })
}

test('a PodGroup with a template entry gets a claim that it owns, and a status that names it', () => {
  const { writes } = sync('podgroup:ns/g', [group(), template()])
  assert.deepEqual(writes, [
    {
      verb: 'create',
      type: resources.resourceclaims,
      namespace: 'ns',
      object: {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaim',
        metadata: {
          generateName: 'g-gpu-',
          namespace: 'ns',
          labels: { l: 'x' },
          annotations: { a: 'y', 'resource.kubernetes.io/pod-claim-name': 'gpu' },
          ownerReferences: [
            {
              apiVersion: 'scheduling.k8s.io/v1alpha2',
              kind: 'PodGroup',
              name: 'g',
              uid: 'g-uid',
              controller: true,
            },
          ],
        },
        spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'c' } }] } },
      },
    },
    {
      verb: 'apply',
      type: POD_GROUPS,
      namespace: 'ns',
      name: 'g',
      fieldManager: 'ResourceClaimController',
      force: true,
      subresource: 'status',
      object: {
        apiVersion: 'scheduling.k8s.io/v1alpha2',
        kind: 'PodGroup',
        metadata: { name: 'g', namespace: 'ns', uid: 'g-uid' },
        status: { resourceClaimStatuses: [{ name: 'gpu', resourceClaimName: 'made' }] },
      },
    },
  ])
})

test('a PodGroup that has its claim, names only claims of users, or is on its way out writes nothing', () => {
  const settled = group({ recorded: 'known' })
  const direct = group({ entries: [{ name: 'gpu', resourceClaimName: 'theirs' }] })
  for (const objects of [
    [settled, groupClaim('known'), template()],
    [direct, template()],
    [group({ deleting: true }), template()],
  ])
    assert.deepEqual(sync('podgroup:ns/g', objects).effects, [])
})

test('a PodGroup finds the claim that it has already, and makes another for one that is gone', () => {
  assert.deepEqual(
    story(sync('podgroup:ns/g', [group(), groupClaim('known'), template()]).writes),
    [['gpu=known']],
  )
  const gone = group({ recorded: 'gone' })
  assert.deepEqual(story(sync('podgroup:ns/g', [gone, template()]).writes), [
    'create g-gpu-',
    ['gpu=made'],
  ])
})

test('every entry of a PodGroup counts, and one that needs no claim asks for none', () => {
  const both = group({ entries: [{ name: 'x', resourceClaimName: 'theirs' }, fromTemplate('gpu')] })
  assert.deepEqual(queued('onAdd', both, [both, template()]), ['podgroup:ns/g'])
  const shared = group({ entries: both.spec!.resourceClaims, recorded: 'shared' })
  assert.deepEqual(story(sync('pod:ns/p', [shared, groupClaim('shared'), member()]).writes), [
    ['gpu=shared'],
  ])
  const needless = group({ recorded: null })
  assert.deepEqual(queued('onAdd', needless, [needless, template()]), [])
  assert.deepEqual(sync('podgroup:ns/g', [needless, template()]).effects, [])
})

test('a status of a PodGroup that cannot be written is an error', () => {
  const onWrite = () => refused(409, 'Conflict', 'later')
  const { error } = sync('podgroup:ns/g', [group(), groupClaim('known')], { onWrite })
  assert.equal(error, 'later')
})

test('a missing template is told of at the PodGroup', () => {
  const { events, error } = sync('podgroup:ns/g', [group()])
  const text =
    'resource claim template "tpl": resourceclaimtemplate.resource.k8s.io "tpl" not found'
  assert.equal(error, text)
  assert.deepEqual(events, [
    {
      type: 'Warning',
      reason: 'FailedResourceClaimCreation',
      message: `PodGroupResourceClaim gpu: ${text}`,
    },
  ])
})

test('a pod takes the claim of its PodGroup for the very same entry, and its own for another', () => {
  const settled = group({ recorded: 'shared' })
  const shared = groupClaim('shared')
  const writes = (entries: readonly PodResourceClaim[]) =>
    story(sync('pod:ns/p', [settled, shared, template(), member({ entries })]).writes)
  assert.deepEqual(writes([fromTemplate('gpu')]), [['gpu=shared']])
  assert.deepEqual(writes([fromTemplate('gpu'), fromTemplate('own')]), [
    'create p-own-',
    ['gpu=shared', 'own=made'],
  ])
  assert.deepEqual(writes([fromTemplate('nic')]), ['create p-nic-', ['nic=made']])
  assert.deepEqual(writes([{ name: 'gpu', resourceClaimName: 'theirs' }]), [])
})

test('a pod waits for a PodGroup that is not there, and for the claim that it does not have yet', () => {
  assert.deepEqual(sync('pod:ns/p', [member(), template()]).effects, [])
  const onNode = sync('pod:ns/p', [member({ node: 'n' }), group(), template()])
  assert.deepEqual([onNode.effects, onNode.error], [[], undefined])
  // What it recorded before stays with it.
  const recorded = member({ recorded: { gpu: 'shared' } })
  assert.deepEqual(sync('pod:ns/p', [recorded, group(), template()]).effects, [])
})

test('a pod follows its PodGroup to another claim, unless it is over', () => {
  const settled = group({ recorded: 'next' })
  const next = groupClaim('next')
  const follows = (options: PodOptions) =>
    story(sync('pod:ns/p', [settled, next, member(options)]).writes)
  assert.deepEqual(follows({ recorded: { gpu: 'former' } }), [['gpu=next']])
  assert.deepEqual(follows({ recorded: { gpu: 'former' }, phase: 'Failed' }), [])
  assert.deepEqual(
    story(
      sync('pod:ns/p', [group({ recorded: null }), member({ recorded: { gpu: 'former' } })]).writes,
    ),
    [['gpu=undefined']],
  )
})

test('the claim of a PodGroup is reserved for the PodGroup when one of its pods has a node', () => {
  const settled = group({ recorded: 'shared' })
  const allocated = groupClaim('shared', group(), { allocated: true })
  const ready = member({ node: 'n', recorded: { gpu: 'shared' } })
  assert.deepEqual(story(sync('pod:ns/p', [settled, allocated, ready]).writes), [
    ['scheduling.k8s.io/podgroups/g'],
  ])
  const reserved = groupClaim('shared', group(), {
    allocated: true,
    reservedFor: [consumerOf(POD_GROUPS, group())],
  })
  assert.deepEqual(sync('pod:ns/p', [settled, reserved, ready]).writes, [])
  const theirs = groupClaim('shared', group({ uid: 'former' }), { allocated: true })
  assert.equal(
    sync('pod:ns/p', [settled, theirs, ready]).error,
    'ResourceClaim ns/shared was not created for podgroup ns/g (podgroup is not owner)',
  )
})

test('a claim that users made is reserved for the PodGroup that has the entry, and for the pod otherwise', () => {
  const entries = [{ name: 'gpu', resourceClaimName: 'theirs' }]
  const theirs = claim('theirs', { allocated: true })
  const ready = member({ node: 'n', entries })
  const reservedFor = (other: PodGroup) => story(sync('pod:ns/p', [other, theirs, ready]).writes)
  assert.deepEqual(reservedFor(group({ entries })), [['scheduling.k8s.io/podgroups/g']])
  assert.deepEqual(reservedFor(group({ entries: [{ name: 'x', resourceClaimName: 'theirs' }] })), [
    ['/pods/p'],
  ])
})

test('a reservation stays as long as its PodGroup is there, also when all its pods are over', () => {
  const reservedFor = [consumerOf(POD_GROUPS, group())]
  const used = claim('c', { allocated: true, finalizer: true, reservedFor })
  const over = member({ phase: 'Succeeded' })
  assert.deepEqual(sync('claim:ns/c', [used, group(), over]).effects, [])
  assert.deepEqual(sync('claim:ns/c', [used, group({ deleting: true })]).effects, [])
  const live = { onRead: (): Outcome => ({ ok: true, object: group() }) }
  assert.deepEqual(sync('claim:ns/c', [used], live).writes, [])
  const gone = { onRead: () => refused(404, 'NotFound') }
  assert.deepEqual(story(sync('claim:ns/c', [used], gone).writes), [[], []])
  const replaced = { onRead: (): Outcome => ({ ok: true, object: group({ uid: 'next' }) }) }
  assert.deepEqual(story(sync('claim:ns/c', [used, group({ uid: 'next' })], replaced).writes), [
    [],
    [],
  ])
})

test('without the gate PodGroups are nobody: what is reserved for them stays', () => {
  const reservedFor = [consumerOf(POD_GROUPS, group())]
  const logic = logicOf([claim('c', { allocated: true, finalizer: true, reservedFor })], {})
  assert.deepEqual(drive(logic.reconcile(logic.observe('claim:ns/c')!)).effects, [])
  assert.deepEqual(
    logic.watches.map(({ type }) => type.kind),
    ['Pod', 'ResourceClaim', 'ResourceClaimTemplate'],
  )
  const alone = logicOf([member(), template()], { DRAWorkloadResourceClaims: false })
  const { writes } = drive(alone.reconcile(alone.observe('pod:ns/p')!))
  assert.equal(writes[0]?.verb, 'create')
})

test('consumers of other groups and resources are left alone', () => {
  const reservedFor = [
    { apiGroup: 'other.io', resource: 'podgroups', name: 'g', uid: 'x' },
    { resource: 'podgroups', name: 'g', uid: 'y' },
    { apiGroup: 'scheduling.k8s.io', resource: 'pods', name: 'g', uid: 'z' },
  ]
  const used = claim('c', { allocated: true, finalizer: true, reservedFor })
  assert.deepEqual(sync('claim:ns/c', [used]).effects, [])
})

test('the claim of a PodGroup that has a successor is deleted, one whose PodGroup is not cached is left to the collector', () => {
  const former = groupClaim('c')
  const live = { onRead: (): Outcome => ({ ok: true, object: group({ uid: 'next' }) }) }
  const { writes } = sync('claim:ns/c', [former, group({ uid: 'next' })], live)
  assert.deepEqual(story(writes), ['delete'])
  assert.deepEqual(sync('claim:ns/c', [former, group()]).effects, [])
  assert.deepEqual(sync('claim:ns/c', [former]).effects, [])
})

/** The keys that an event brings, with these objects cached. */
function queued(
  event: 'onAdd' | 'onDelete',
  object: KubernetesObject,
  cached: readonly KubernetesObject[],
): readonly unknown[] {
  const watch = logicOf(cached).watches.find(({ type }) => type.kind === object.kind)!
  return [...(watch[event]?.(object) ?? [])]
}

test('events bring the keys of PodGroups and of the pods that wait for them', () => {
  const settled = group({ recorded: 'shared' })
  const shared = groupClaim('shared')
  const waiting = member()
  const done = member({ recorded: { gpu: 'shared' } })
  // PodGroups.
  assert.deepEqual(queued('onAdd', group(), [waiting, group()]), ['podgroup:ns/g'])
  assert.deepEqual(queued('onAdd', settled, [waiting, settled, shared]), ['pod:ns/p'])
  assert.deepEqual(queued('onAdd', settled, [done, settled, shared]), [])
  assert.deepEqual(queued('onAdd', group({ deleting: true }), [group({ deleting: true })]), [])
  const direct = group({ entries: [{ name: 'x', resourceClaimName: 'theirs' }], recorded: 'a' })
  assert.deepEqual(queued('onDelete', settled, []), ['claim:ns/shared'])
  assert.deepEqual(queued('onDelete', direct, []), ['claim:ns/theirs'])
  // Pods: nothing is known of one whose PodGroup is not there.
  assert.deepEqual(queued('onAdd', waiting, []), [])
  assert.deepEqual(queued('onAdd', waiting, [group()]), [])
  assert.deepEqual(queued('onAdd', waiting, [settled, shared]), ['pod:ns/p'])
  const recorded = member({ recorded: { gpu: 'former' } })
  assert.deepEqual(queued('onAdd', recorded, [settled]), ['pod:ns/p'])
  // Claims: the PodGroup makes another, the pod only follows.
  assert.deepEqual(queued('onDelete', shared, [settled, done]), ['podgroup:ns/g'])
  const allocated = groupClaim('shared', group(), { allocated: true })
  const ready = member({ node: 'n', recorded: { gpu: 'shared' } })
  assert.deepEqual(queued('onAdd', allocated, [settled, ready, allocated]), [
    'claim:ns/shared',
    'pod:ns/p',
  ])
  // Templates.
  assert.deepEqual(queued('onAdd', template(), [group(), waiting]), ['podgroup:ns/g'])
})

test('a PodGroup under the name of another that went unseen: the claims of the former are looked at', () => {
  const { watches, observe } = logicOf([claim('old')])
  const watch = watches.find(({ type }) => type.kind === 'PodGroup')!
  const former = group({ recorded: 'old' })
  assert.deepEqual(
    [...watch.onUpdate!(former, group({ uid: 'next' }))],
    ['claim:ns/old', 'podgroup:ns/g'],
  )
  const observed = observe('claim:ns/old')
  assert.ok(observed?.kind === 'claim')
  assert.equal(observed.isRememberedGone('g-uid'), true)
})

test('a pod of a PodGroup keeps what is reserved for it by itself', () => {
  const user = member({ node: 'n', phase: 'Running' })
  const used = claim('c', { allocated: true, finalizer: true, reservedFor: [consumer(user)] })
  assert.deepEqual(sync('claim:ns/c', [used, user, group()]).effects, [])
})
