import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job, JobSpec, Pod, PodFailurePolicyRule } from '@gyropilot/api'
import { job, jobPod } from '../fixtures.ts'
import {
  isFailureIgnored,
  isPodFailed,
  matchFailurePolicy,
  replacesOnlyFailed,
} from './pod-failure-policy.ts'

function withRules(...rules: readonly PodFailurePolicyRule[]): Job {
  return job({ spec: { podFailurePolicy: { rules } } })
}

const exits = (
  operator: 'In' | 'NotIn',
  values: readonly number[],
  containerName?: string,
): PodFailurePolicyRule => ({
  action: 'FailJob',
  onExitCodes: { operator, values, ...(containerName === undefined ? {} : { containerName }) },
})

function podOf(
  containers: Readonly<Record<string, number | undefined>>,
  init: Readonly<Record<string, number>> = {},
): Pod {
  const statuses = (codes: Readonly<Record<string, number | undefined>>) =>
    Object.entries(codes).map(([name, exitCode]) => ({
      name,
      image: 'i',
      imageID: 'i',
      ready: false,
      restartCount: 0,
      state: exitCode === undefined ? { running: {} } : { terminated: { exitCode } },
    }))
  const pod = jobPod('p', { phase: 'Failed' })
  return {
    ...pod,
    status: {
      phase: 'Failed',
      containerStatuses: statuses(containers),
      initContainerStatuses: statuses(init),
    },
  }
}

const message = (container: string, exitCode: number, rule = 0): string =>
  `Container ${container} for pod ns/p failed with exit code ${exitCode} matching FailJob rule at index ${rule}`

const exitCodes: readonly (readonly [string, Job, Pod, string | undefined])[] = [
  ['a listed code', withRules(exits('In', [2, 3])), podOf({ a: 3 }), message('a', 3)],
  ['a code that is not listed', withRules(exits('In', [2, 3])), podOf({ a: 4 }), undefined],
  ['a code out of NotIn', withRules(exits('NotIn', [2])), podOf({ a: 3 }), message('a', 3)],
  ['a code of NotIn', withRules(exits('NotIn', [3])), podOf({ a: 3 }), undefined],
  [
    'exit code 0, which is never looked at',
    withRules(exits('NotIn', [3])),
    podOf({ a: 0 }),
    undefined,
  ],
  ['a container that runs', withRules(exits('NotIn', [3])), podOf({ a: undefined }), undefined],
  ['another container', withRules(exits('In', [3], 'b')), podOf({ a: 3 }), undefined],
  ['the named container', withRules(exits('In', [3], 'b')), podOf({ a: 4, b: 3 }), message('b', 3)],
  [
    'the first container that matches',
    withRules(exits('In', [3, 4])),
    podOf({ a: 1, b: 4, c: 3 }),
    message('b', 4),
  ],
  ['an init container', withRules(exits('In', [3])), podOf({ a: 1 }, { i: 3 }), message('i', 3)],
  [
    'regular containers before init containers',
    withRules(exits('In', [3])),
    podOf({ a: 3 }, { i: 3 }),
    message('a', 3),
  ],
  [
    'the first rule that matches',
    withRules(exits('In', [9]), exits('In', [3])),
    podOf({ a: 3 }),
    message('a', 3, 1),
  ],
  ['a Job without rules', job(), podOf({ a: 3 }), undefined],
]
for (const [title, subject, pod, expected] of exitCodes) {
  test(`exit codes: ${title}: ${expected ?? 'no match'}`, () => {
    assert.equal(matchFailurePolicy(pod, subject)?.message, expected)
  })
}

test('conditions: the first of the pod that is equal in type and status to any pattern', () => {
  const rule: PodFailurePolicyRule = {
    action: 'FailJob',
    onPodConditions: [{ type: 'B' }, { type: 'A', status: 'False' }],
  }
  const of = (...conditions: readonly { readonly type: string; readonly status: string }[]) =>
    matchFailurePolicy(jobPod('p', { phase: 'Failed', conditions }), withRules(rule))?.message
  assert.equal(of(), undefined)
  assert.equal(of({ type: 'A', status: 'True' }, { type: 'B', status: 'False' }), undefined)
  assert.equal(
    of({ type: 'A', status: 'False' }, { type: 'B', status: 'True' }),
    'Pod ns/p has condition A matching FailJob rule at index 0',
  )
  assert.equal(
    of({ type: 'A', status: 'True' }, { type: 'B', status: 'True' }),
    'Pod ns/p has condition B matching FailJob rule at index 0',
  )
})

test('first match decides: a pod that is ignored by an earlier rule is not judged by a later one', () => {
  const rules = withRules({ ...exits('In', [3]), action: 'Ignore' }, exits('In', [3]))
  assert.equal(matchFailurePolicy(podOf({ a: 3 }), rules)?.action, 'Ignore')
  assert.ok(isFailureIgnored(podOf({ a: 3 }), rules))
  assert.ok(!isFailureIgnored(podOf({ a: 4 }), rules))
  assert.ok(!isFailureIgnored(podOf({ a: 3 }), withRules(exits('In', [3]))))
})

const policy: JobSpec['podFailurePolicy'] = { rules: [] }
const failing: readonly (readonly [
  string,
  Partial<JobSpec>,
  Parameters<typeof jobPod>[1],
  boolean,
])[] = [
  ['that runs', {}, {}, false],
  ['that has failed', {}, { phase: 'Failed' }, true],
  ['that has succeeded', {}, { phase: 'Succeeded' }, false],
  ['on its way out', {}, { deleting: true }, true],
  ['that has succeeded and is on its way out', {}, { phase: 'Succeeded', deleting: true }, false],
  [
    'on its way out, of replacement policy Failed',
    { podReplacementPolicy: 'Failed' },
    { deleting: true },
    false,
  ],
  [
    'on its way out, of a Job with a failure policy',
    { podFailurePolicy: policy },
    { deleting: true },
    false,
  ],
  [
    'that has failed, of replacement policy Failed',
    { podReplacementPolicy: 'Failed' },
    { phase: 'Failed', deleting: true },
    true,
  ],
  [
    'on its way out, of replacement policy TerminatingOrFailed',
    { podReplacementPolicy: 'TerminatingOrFailed' },
    { deleting: true },
    true,
  ],
]
for (const [title, spec, options, expected] of failing) {
  test(`a pod ${title} ${expected ? 'counts' : 'does not count'} as failed`, () => {
    assert.equal(isPodFailed(jobPod('p', options), job({ spec })), expected)
  })
}

test('only failed pods are replaced with the policy Failed or with a failure policy', () => {
  assert.ok(!replacesOnlyFailed(job()))
  assert.ok(!replacesOnlyFailed(job({ spec: { podReplacementPolicy: 'TerminatingOrFailed' } })))
  assert.ok(replacesOnlyFailed(job({ spec: { podReplacementPolicy: 'Failed' } })))
  assert.ok(replacesOnlyFailed(job({ spec: { podFailurePolicy: policy } })))
})
