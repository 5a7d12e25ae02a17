/** Claims of PodGroups (gate DRAWorkloadResourceClaims). What is promised here was seen on kube-controller-manager 1.36.2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject, Pod, ResourceClaim } from '@gyropilot/api'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { addGroupPodIndex } from '../workload-support/group-pod-index.ts'
import { Evictions } from './evictions.ts'
import { START, claim, pod, rule, slice, taint } from './fixtures.ts'
import { podItemKey } from './keys.ts'
import { ruleCondition } from './rule-status.ts'

const GROUP = { apiGroup: 'scheduling.k8s.io', resource: 'podgroups', name: 'g', uid: 'g-uid' }

function memberOf(podGroupName: string, made: Pod): Pod {
  return { ...made, spec: { ...made.spec!, schedulingGroup: { podGroupName } } }
}

/** Reserved for the PodGroup `g`; made for it too where `isOwned`. */
function groupClaim(name: string, isOwned: boolean, kind = 'PodGroup'): ResourceClaim {
  const made = claim(name)
  const { apiGroup, name: groupName, uid } = GROUP
  const owner = { apiVersion: `${apiGroup}/v1alpha2`, kind, name: groupName, uid, controller: true }
  return {
    ...made,
    metadata: { ...made.metadata, ...(isOwned && { ownerReferences: [owner] }) },
    status: { ...made.status, reservedFor: [GROUP] },
  }
}

function evictions(pods: readonly Pod[], sharesClaims = true) {
  const informers = fakeInformers(pods as readonly KubernetesObject[])
  const informer = informers.informer(resources.pods)
  addGroupPodIndex(informer)
  const made = new Evictions({
    pods: informer.lister,
    sharesClaims,
    nowMs: () => Date.parse(START),
    record: () => undefined,
  })
  made.sliceChanged(undefined, slice('s', { 'gpu-0': [taint('bad')] }))
  return made
}

const fromTemplate = memberOf('g', pod('t', { generated: 'c' }))
const direct = memberOf('g', pod('d', { claims: ['c'] }))

test('pods of the PodGroup that a claim is reserved for are evicted with it', () => {
  const made = evictions([fromTemplate, direct])
  const keys = made.claimChanged(undefined, groupClaim('c', true))
  assert.deepEqual([...keys].sort(), [podItemKey(direct), podItemKey(fromTemplate)].sort())
  const byUsers = evictions([direct]).claimChanged(undefined, groupClaim('c', false))
  assert.deepEqual(byUsers, [podItemKey(direct)])
})

test('a taint that comes later finds them, too', () => {
  const made = evictions([direct])
  made.sliceChanged(slice('s', { 'gpu-0': [taint('bad')] }), slice('s', { 'gpu-0': [] }))
  made.claimChanged(undefined, groupClaim('c', false))
  assert.deepEqual(
    made.sliceChanged(slice('s', { 'gpu-0': [] }), slice('s', { 'gpu-0': [taint('worse')] })),
    [podItemKey(direct)],
  )
})

test('pods of other PodGroups, pods that do not name the claim, and claims made for somebody else are left alone', () => {
  const other = memberOf('other', pod('o', { claims: ['c'] }))
  const unconcerned = memberOf('g', pod('u', { claims: ['another'] }))
  const alone = pod('a', { claims: ['c'] })
  assert.deepEqual(
    evictions([other, unconcerned, alone]).claimChanged(undefined, groupClaim('c', true)),
    [],
  )
  // Named by the status of the pod as made from its template, but made for neither.
  assert.deepEqual(evictions([fromTemplate]).claimChanged(undefined, groupClaim('c', false)), [])
  assert.deepEqual(
    evictions([fromTemplate]).claimChanged(undefined, groupClaim('c', true, 'Workload')),
    [],
  )
})

test('with the gate off a PodGroup is nobody', () => {
  const made = evictions([fromTemplate, direct], false)
  assert.deepEqual(made.claimChanged(undefined, groupClaim('c', true)), [])
  assert.deepEqual(made.podChanged(undefined, direct), [])
})

test('what a rule would evict counts them', () => {
  const made = evictions([fromTemplate, direct])
  made.claimChanged(undefined, groupClaim('c', true))
  const looking = rule('r', { device: 'gpu-0' }, { effect: 'None' })
  const condition = ruleCondition(looking, { evictions: made, podNamed: () => undefined })
  assert.match(condition.message, / 2 pods would be evicted in 1 namespace /)
})
