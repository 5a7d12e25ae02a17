import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type { KubernetesObject } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import { RecordingMetrics, fakeInformers } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { claim, consumer, fromTemplate, pod, template } from './fixtures.ts'
import type { PodOptions } from './fixtures.ts'
import { resourceClaimLogic, resourceClaimController } from './index.ts'

/** The keys that an event brings, with these objects cached. */
function queued(
  event: 'onAdd' | 'onUpdate' | 'onDelete',
  object: KubernetesObject | DeletedFinalStateUnknown,
  cached: readonly KubernetesObject[] = [],
  kind = (object as KubernetesObject).kind,
): readonly unknown[] {
  const { watches } = resourceClaimLogic({
    informers: fakeInformers(cached),
    configuration: defaultControllersConfiguration,
    metrics: new RecordingMetrics(),
  })
  const watch = watches.find(({ type }) => type.kind === kind)!
  const deleted = object as KubernetesObject
  if (event === 'onUpdate') return [...(watch.onUpdate?.(deleted, deleted) ?? [])]
  return [...(watch[event]?.(deleted) ?? [])]
}

const waiting = pod()
const settled = pod({ recorded: { gpu: 'known' } })
const known = claim('known', { owner: settled })

test('Given template, claim and pod events, then exactly the expected keys are queued.', () => {
  for (const event of ['onAdd', 'onUpdate'] as const) {
    assert.deepEqual(queued(event, template(), [waiting, pod({ name: 'q', entries: [] })]), [
      'pod:ns/p',
    ])
    assert.deepEqual(queued(event, template(), [settled, known]), [])
    assert.deepEqual(queued(event, known, [settled, known]), ['claim:ns/known'])
    assert.deepEqual(queued(event, known, [settled]), ['claim:ns/known', 'pod:ns/p'])
    assert.deepEqual(queued(event, waiting), ['pod:ns/p'])
    assert.deepEqual(queued(event, settled, [known]), [])
    assert.deepEqual(queued(event, pod({ entries: [] })), [])
  }
  assert.deepEqual(queued('onDelete', template(), [waiting]), [])
  assert.deepEqual(queued('onDelete', known, [settled]), ['pod:ns/p'])
  const tombstone = new DeletedFinalStateUnknown('ns/known', undefined)
  assert.deepEqual(queued('onDelete', tombstone, [settled], 'ResourceClaim'), ['pod:ns/p'])
  assert.deepEqual(queued('onDelete', settled), ['claim:ns/known'])
  assert.deepEqual(queued('onDelete', new DeletedFinalStateUnknown('ns/p', settled), [], 'Pod'), [
    'claim:ns/known',
  ])
  assert.deepEqual(
    queued('onDelete', new DeletedFinalStateUnknown('ns/p', undefined), [], 'Pod'),
    [],
  )
  const { spec: _, ...bare } = pod({ entries: [] })
  assert.deepEqual(queued('onDelete', bare as KubernetesObject), [])
})

test('a pod under the name of another that went unseen: the claims of the former are looked at, and its uid is one that is gone', () => {
  const { watches, observe } = resourceClaimLogic({
    informers: fakeInformers([claim('old', { owner: settled })]),
    configuration: defaultControllersConfiguration,
    metrics: new RecordingMetrics(),
  })
  const podWatch = watches.find(({ type }) => type.kind === 'Pod')!
  const former = pod({ node: 'n', phase: 'Running', recorded: { gpu: 'old' } })
  assert.deepEqual(
    [...podWatch.onUpdate!(former, pod({ uid: 'next' }))],
    ['claim:ns/old', 'pod:ns/p'],
  )
  assert.deepEqual([...podWatch.onUpdate!(former, former)], [])
  const observed = observe('claim:ns/old')
  assert.ok(observed?.kind === 'claim')
  assert.deepEqual(['p-uid', 'next'].map(observed.isRememberedGone), [true, false])
})

test('which pods need work', () => {
  const direct = { name: 'gpu', resourceClaimName: 'known' }
  const allocated = claim('known', { owner: waiting, allocated: true })
  const cases: readonly [string, PodOptions, readonly KubernetesObject[], boolean][] = [
    ['nothing is recorded', {}, [], true],
    ['deleted', { deleting: true, node: 'n' }, [], false],
    ['neither claim nor template', { entries: [{ name: 'gpu' }] }, [], true],
    ['none is needed', { recorded: { gpu: null } }, [], false],
    ['the recorded claim is gone', { recorded: { gpu: 'known' } }, [], true],
    ['a named claim is not there', { entries: [direct] }, [], false],
    ['allocated, and no node', { recorded: { gpu: 'known' } }, [allocated], false],
    ['not allocated', { node: 'n', recorded: { gpu: 'known' } }, [known], false],
    ['allocated', { node: 'n', recorded: { gpu: 'known' } }, [allocated], true],
    ['a named claim is allocated', { node: 'n', entries: [direct] }, [allocated], true],
    [
      'of another owner',
      { node: 'n', recorded: { gpu: 'known' } },
      [claim('known', { allocated: true })],
      false,
    ],
    [
      'a named claim of no owner',
      { node: 'n', entries: [direct] },
      [claim('known', { allocated: true })],
      true,
    ],
    [
      'reserved',
      { node: 'n', recorded: { gpu: 'known' } },
      [claim('known', { owner: waiting, allocated: true, reservedFor: [consumer(waiting)] })],
      false,
    ],
    [
      'the second entry',
      { entries: [fromTemplate('gpu'), fromTemplate('nic')], recorded: { gpu: null } },
      [],
      true,
    ],
    ['over', { node: 'n', phase: 'Failed', recorded: { gpu: 'known' } }, [allocated], false],
    ['over, and its claim is gone', { phase: 'Failed', recorded: { gpu: 'gone' } }, [], false],
    ['over, and none recorded', { phase: 'Failed' }, [], true],
  ]
  for (const [title, options, cached, needs] of cases)
    assert.equal(queued('onAdd', pod(options), cached).includes('pod:ns/p'), needs, title)
})

test('Given pods with extended resource claims in several phases, then the claim key is queued only when done.', () => {
  const extended = { entries: [], extendedClaim: 'ext' }
  const cases: readonly [PodOptions, boolean][] = [
    [{}, false],
    [{ node: 'n', phase: 'Running' }, false],
    [{ node: 'n', phase: 'Running', deleting: true }, false],
    [{ deleting: true }, true],
    [{ node: 'n', phase: 'Succeeded' }, true],
    [{ node: 'n', phase: 'Failed' }, true],
  ]
  for (const [options, isDone] of cases)
    assert.deepEqual(
      queued('onUpdate', pod({ ...extended, ...options })),
      isDone ? ['claim:ns/ext'] : [],
    )
  assert.deepEqual(queued('onDelete', pod({ ...extended, node: 'n', phase: 'Running' })), [
    'claim:ns/ext',
  ])
  // And a claim event looks at the pod that has it.
  assert.deepEqual(queued('onDelete', claim('ext'), [pod({ ...extended, phase: 'Failed' })]), [
    'claim:ns/ext',
  ])
  assert.deepEqual(resources.pods.kind, 'Pod')
})

test('names are those of the page', () => {
  const { name, aliases, serviceAccount, enabledByDefault, featureGates } = resourceClaimController
  assert.deepEqual(
    [name, aliases, serviceAccount, enabledByDefault, featureGates],
    [
      'resourceclaim-controller',
      ['resource-claim-controller'],
      'resource-claim-controller',
      true,
      ['DynamicResourceAllocation'],
    ],
  )
})
