import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupResourceOf, resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import type { Objects } from '../simulated/objects.ts'
import { endStateRules } from './end-state.ts'

/** What there is, by resource. */
type World = readonly (readonly [ResourceType, readonly object[]])[]

function problems(rule: string, world: World): readonly string[] {
  const of = (type: ResourceType): readonly object[] =>
    world.find(([known]) => groupResourceOf(known) === groupResourceOf(type))?.[1] ?? []
  const everything = world.flatMap(([type, objects]) =>
    objects.map((object) => ({ collection: groupResourceOf(type), object })),
  )
  const objects = { all: of, everything: () => everything } as unknown as Objects
  return [...endStateRules[rule]!(objects)]
}

const metadata = { name: 'a', namespace: 'x', uid: '1', generation: 2 }
const ownedBy = (kind: string, uid: string): object => ({
  ownerReferences: [{ apiVersion: 'v1', kind, name: 'a', uid, controller: true }],
})

function pod(owner: string, isReady = true): object {
  const ready = { type: 'Ready', status: isReady ? 'True' : 'False' }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'x', ...ownedBy('ReplicaSet', owner) },
    status: { phase: 'Running', conditions: [ready] },
  }
}

test('a status that never says what was observed has not acted on the spec, unless its kind need not say so', () => {
  const rule = 'the newest spec was acted on'
  const world = (kind: string, status?: object): World => [
    [resources.replicasets as ResourceType, [{ kind, metadata, status }]],
  ]
  const late = ['ReplicaSet x/a is at generation 2, observed was 0']
  assert.deepEqual(problems(rule, world('ReplicaSet', {})), late)
  assert.deepEqual(problems(rule, world('ReplicaSet')), late)
  assert.deepEqual(problems(rule, world('ReplicaSet', { observedGeneration: 2 })), [])
  assert.deepEqual(problems(rule, world('Job', {})), [])
})

test('who is ready is counted as available, in each status above', () => {
  const rule = 'statuses count the pods that are available'
  const replicaSet = {
    kind: 'ReplicaSet',
    metadata: { ...metadata, ...ownedBy('Deployment', '2') },
  }
  const deployment = { kind: 'Deployment', metadata: { ...metadata, uid: '2' } }
  const world = (setStatus: object, status: object, spec: object = {}): World => [
    [resources.pods as ResourceType, [pod('1'), pod('1', false)]],
    [resources.replicasets as ResourceType, [{ ...replicaSet, spec, status: setStatus }]],
    [resources.deployments as ResourceType, [{ ...deployment, spec, status }]],
  ]
  const right = { readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1 }
  assert.deepEqual(problems(rule, world(right, right)), [])
  assert.deepEqual(problems(rule, world({}, right)), [
    'the status of ReplicaSet x/a says 0 available pods, there are 1',
  ])
  assert.deepEqual(problems(rule, world(right, {})), [
    'the status of Deployment x/a says 0 available pods, there are 1',
    'the status of Deployment x/a says 0 ready pods, there are 1',
    'the status of Deployment x/a says 0 unavailable pods, there are 1',
  ])
  // Who waits for longer than the rest lasts is not available yet.
  const waiting = { readyReplicas: 1, unavailableReplicas: 2 }
  assert.deepEqual(problems(rule, world({}, waiting, { minReadySeconds: 600 })), [])
})

test('a Job is complete with as many successes as it asks for', () => {
  const rule = 'Jobs have counted their pods and are over'
  const world = (succeeded: number, spec: object): World => {
    const status = { succeeded, conditions: [{ type: 'Complete', status: 'True' }] }
    return [[resources.jobs as ResourceType, [{ kind: 'Job', metadata, spec, status }]]]
  }
  assert.deepEqual(problems(rule, world(2, { completions: 3 })), [
    'Job x/a is complete with 2 successes of 3',
  ])
  assert.deepEqual(problems(rule, world(3, { completions: 3 })), [])
  assert.deepEqual(problems(rule, world(1, { completions: 3, successPolicy: {} })), [])
  assert.deepEqual(problems(rule, world(0, {})), ['Job x/a is complete with 0 successes of 1'])
})

test('a budget that does not know all of its pods is found', () => {
  const rule = 'budgets allow what is left over'
  const budget = (expectedPods: number): object => ({
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { minAvailable: 1, selector: {} },
    status: { expectedPods, currentHealthy: 2, disruptionsAllowed: 1 },
  })
  const world = (expectedPods: number): World => [
    [resources.pods as ResourceType, [pod('1'), pod('1')]],
    [resources.poddisruptionbudgets as ResourceType, [budget(expectedPods)]],
  ]
  assert.deepEqual(problems(rule, world(2)), [])
  assert.deepEqual(problems(rule, world(1)), [
    'PodDisruptionBudget x/a expects 1 pods, there are 2',
  ])
})
