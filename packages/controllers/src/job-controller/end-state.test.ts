import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job, JobCondition, Pod } from '@gyropilot/api'
import { NOW_MS, secondsAgo } from '../workload-support/fixtures.ts'
import { countPods } from './pods/count-pods.ts'
import { endStateOf, isComplete, untilDeadlineMs } from './end-state.ts'
import { indexedJob, job, jobPod } from './fixtures.ts'

function endOf(subject: Job, pods: readonly Pod[] = []): string | undefined {
  const counts = countPods(subject, pods, new Set())
  const end = endStateOf(subject, counts, subject.status?.startTime, NOW_MS)
  return end && `${end.succeeded ? 'succeeded' : 'failed'} ${end.reason}: ${end.message}`
}

const failed = (count: number): readonly Pod[] =>
  Array.from({ length: count }, (_, number) => jobPod(`f${number}`, { phase: 'Failed' }))
const EXCEEDED = 'failed BackoffLimitExceeded: Job has reached the specified backoff limit'
const LATE = 'failed DeadlineExceeded: Job was active longer than specified deadline'

test('`backoffLimit` compares strictly: limit 6 fails on the 7th failure; limit 0 on the first', () => {
  assert.equal(endOf(job(), failed(6)), undefined)
  assert.equal(endOf(job(), failed(7)), EXCEEDED)
  const none = job({ spec: { backoffLimit: 0 } })
  assert.equal(endOf(none), undefined)
  assert.equal(endOf(none, failed(1)), EXCEEDED)
})

test('failures of the status count, those that are not counted yet too', () => {
  const status = { failed: 3, uncountedTerminatedPods: { failed: ['x', 'y'] } }
  assert.equal(endOf(job({ status, spec: { backoffLimit: 6 } }), failed(1)), undefined)
  assert.equal(endOf(job({ status, spec: { backoffLimit: 5 } }), failed(1)), EXCEEDED)
})

const onFailure = (backoffLimit: number): Job => {
  const template = {
    ...job().spec!.template,
    spec: { restartPolicy: 'OnFailure' as const, containers: [] },
  }
  return job({ spec: { backoffLimit, template } })
}
const withInit = (pod: Pod, restartCount: number): Pod => {
  const initContainerStatuses = [
    { name: 'i', image: 'i', imageID: 'i', ready: false, restartCount },
  ]
  return { ...pod, status: { ...pod.status, initContainerStatuses } }
}
const restarts: readonly (readonly [string, Job, readonly Pod[], boolean])[] = [
  [
    'below the limit',
    onFailure(3),
    [jobPod('a', { restarts: 1 }), jobPod('b', { restarts: 1 })],
    false,
  ],
  [
    'at the limit, over all pods',
    onFailure(3),
    [jobPod('a', { restarts: 1 }), jobPod('b', { restarts: 2 })],
    true,
  ],
  ['of pending pods', onFailure(3), [jobPod('a', { restarts: 3, phase: 'Pending' })], true],
  ['of plain init containers', onFailure(3), [withInit(jobPod('a', { restarts: 1 }), 2)], true],
  ['of failed pods', onFailure(3), [jobPod('a', { restarts: 3, phase: 'Failed' })], false],
  ['none with limit 0', onFailure(0), [jobPod('a')], false],
  ['one with limit 0', onFailure(0), [jobPod('a', { restarts: 1 })], true],
  [
    'with restart policy Never',
    job({ spec: { backoffLimit: 1 } }),
    [jobPod('a', { restarts: 1 })],
    false,
  ],
]
for (const [title, subject, pods, expected] of restarts) {
  test(`restarts ${title} ${expected ? 'fail' : 'do not fail'} the Job`, () => {
    assert.equal(endOf(subject, pods), expected ? EXCEEDED : undefined)
  })
}

test('a status that somebody wrote without a number of restarts has none', () => {
  const { status, ...rest } = jobPod('a')
  const containerStatuses = [{ name: 'c', image: 'i', imageID: 'i', ready: false }] as never
  const silent: Pod = { ...rest, status: { ...status, containerStatuses } }
  assert.equal(endOf(onFailure(1), [silent, jobPod('b', { restarts: 1 })]), EXCEEDED)
})

const started = (seconds: number) => ({ status: { startTime: secondsAgo(seconds) } })
const deadlines: readonly (readonly [string, Job, string | undefined, number | undefined])[] = [
  ['before it', job({ ...started(9), spec: { activeDeadlineSeconds: 10 } }), undefined, 1_000],
  ['at it', job({ ...started(10), spec: { activeDeadlineSeconds: 10 } }), LATE, 0],
  ['after it', job({ ...started(15), spec: { activeDeadlineSeconds: 10 } }), LATE, -5_000],
  [
    'suspended',
    job({ ...started(15), spec: { activeDeadlineSeconds: 10, suspend: true } }),
    undefined,
    undefined,
  ],
  ['not started', job({ status: {}, spec: { activeDeadlineSeconds: 10 } }), undefined, undefined],
  [
    'of any int64',
    job({
      ...started(15),
      spec: { activeDeadlineSeconds: 9007199254740993n as unknown as number },
    }),
    undefined,
    Number(9007199254740993n) * 1_000 - 15_000,
  ],
  ['without one', job(started(15)), undefined, undefined],
]
for (const [title, subject, end, remainingMs] of deadlines) {
  test(`deadline, ${title}: ${end ?? 'no end'}`, () => {
    assert.equal(endOf(subject), end)
    assert.equal(untilDeadlineMs(subject, subject.status?.startTime, NOW_MS), remainingMs)
  })
}

const perIndex = (spec: object, status: object): Job =>
  indexedJob({ spec: { completions: 4, backoffLimitPerIndex: 0, ...spec }, status })
const indexes: readonly (readonly [string, Job, string | undefined])[] = [
  [
    'some failed, others at work',
    perIndex({}, { failedIndexes: '0', completedIndexes: '1,2' }),
    undefined,
  ],
  [
    'all done, none failed',
    perIndex({}, { failedIndexes: '', completedIndexes: '0-3' }),
    undefined,
  ],
  [
    'all done, one failed',
    perIndex({}, { failedIndexes: '0', completedIndexes: '1-3' }),
    'failed FailedIndexes: Job has failed indexes',
  ],
  ['as many failed as may', perIndex({ maxFailedIndexes: 1 }, { failedIndexes: '0' }), undefined],
  [
    'more failed than may',
    perIndex({ maxFailedIndexes: 1 }, { failedIndexes: '0,1' }),
    'failed MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes',
  ],
  [
    'none may fail and one has',
    perIndex({ maxFailedIndexes: 0 }, { failedIndexes: '0', completedIndexes: '1-3' }),
    'failed MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes',
  ],
  [
    'failed indexes of a Job without limit per index',
    indexedJob({ status: { failedIndexes: '0', completedIndexes: '1,2' } }),
    undefined,
  ],
]
for (const [title, subject, end] of indexes) {
  test(`indexes, ${title}: ${end ?? 'no end'}`, () => {
    assert.equal(endOf(subject), end)
  })
}

test('a rule judges pods that have failed, not one that has what it names and still runs', () => {
  const podFailurePolicy = {
    rules: [{ action: 'FailJob', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
  } as const
  const subject = job({ spec: { podFailurePolicy } })
  const conditions = [{ type: 'DisruptionTarget', status: 'True' }]
  assert.equal(endOf(subject, [jobPod('a', { conditions })]), undefined)
  assert.equal(endOf(subject, [jobPod('a', { conditions, deleting: true })]), undefined)
  assert.match(endOf(subject, [jobPod('a', { conditions, phase: 'Failed' })])!, /PodFailurePolicy/)
})

test('of several pods that fail the Job the one with the lowest name is named', () => {
  const podFailurePolicy = {
    rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [3] } }],
  } as const
  const subject = job({ spec: { podFailurePolicy } })
  const pods = ['b', 'a', 'c'].map((name) => jobPod(name, { phase: 'Failed', exitCode: 3 }))
  const message =
    'Container c for pod ns/a failed with exit code 3 matching FailJob rule at index 0'
  assert.equal(endOf(subject, pods), `failed PodFailurePolicy: ${message}`)
  const freed = pods.map((pod) => ({ ...pod, metadata: { ...pod.metadata, finalizers: [] } }))
  assert.equal(endOf(subject, freed), `failed PodFailurePolicy: ${message}`, 'tracked or not')
  const counts = { rules: [{ ...podFailurePolicy.rules[0], action: 'Count' as const }] }
  assert.equal(endOf(job({ spec: { podFailurePolicy: counts } }), pods), undefined)
})

test('an index that succeeds may meet the success policy', () => {
  const successPolicy = { rules: [{ succeededCount: 1 }] }
  const subject = indexedJob({ spec: { successPolicy } })
  assert.equal(endOf(subject), undefined)
  const done = jobPod('a', { index: 2, phase: 'Succeeded' })
  assert.equal(endOf(subject, [done]), 'succeeded SuccessPolicy: Matched rules at index 0')
})

const condition = (type: string, status: string): JobCondition => ({
  type,
  status,
  reason: 'R',
  message: 'M',
})
const announced: readonly (readonly [string, readonly JobCondition[], string | undefined])[] = [
  ['SuccessCriteriaMet', [condition('SuccessCriteriaMet', 'True')], 'succeeded R: M'],
  ['FailureTarget', [condition('FailureTarget', 'True')], 'failed R: M'],
  [
    'both',
    [condition('FailureTarget', 'True'), condition('SuccessCriteriaMet', 'True')],
    'succeeded R: M',
  ],
  ['neither', [condition('Suspended', 'True')], undefined],
]
for (const [title, conditions, end] of announced) {
  test(`announced by ${title}: ${end ?? 'no end'}`, () => {
    assert.equal(endOf(job({ status: { conditions } })), end)
  })
}

test('A condition with status False (FailureTarget or SuccessCriteriaMet) added by a user is ignored', () => {
  for (const type of ['FailureTarget', 'SuccessCriteriaMet']) {
    assert.equal(endOf(job({ status: { conditions: [condition(type, 'False')] } })), undefined)
  }
})

test('SuccessCriteriaMet and FailureTarget exclude each other; whichever is stored first wins for good', () => {
  const met = { status: { conditions: [condition('SuccessCriteriaMet', 'True')] } }
  assert.equal(endOf(job(met), failed(7)), 'succeeded R: M')
  const lost = {
    status: { conditions: [condition('FailureTarget', 'True')], completedIndexes: '0' },
  }
  const successPolicy = { rules: [{ succeededCount: 1 }] }
  assert.equal(endOf(indexedJob({ ...lost, spec: { successPolicy } })), 'failed R: M')
})

test('first hit wins, in the order of the page', () => {
  const podFailurePolicy = {
    rules: [{ action: 'FailJob', onExitCodes: { operator: 'In', values: [3] } }],
  } as const
  const spec = { backoffLimit: 0, activeDeadlineSeconds: 1, podFailurePolicy }
  const killer = jobPod('a', { phase: 'Failed', exitCode: 3 })
  assert.match(endOf(job({ spec }), [killer]) ?? '', /PodFailurePolicy/)
  assert.equal(endOf(job({ spec }), failed(1)), EXCEEDED)
  const all = perIndex(
    { activeDeadlineSeconds: 1, successPolicy: { rules: [{ succeededCount: 1 }] } },
    { failedIndexes: '0', completedIndexes: '1-3', startTime: secondsAgo(5) },
  )
  assert.equal(endOf(all), LATE)
  const { activeDeadlineSeconds: _, ...without } = all.spec!
  assert.match(endOf({ ...all, spec: without }) ?? '', /FailedIndexes/)
})

const complete: readonly (readonly [number | undefined, number, number, boolean])[] = [
  [undefined, 0, 0, false],
  [undefined, 1, 0, true],
  [undefined, 1, 1, false],
  [3, 2, 0, false],
  [3, 3, 0, true],
  [3, 4, 0, true],
  [3, 3, 1, false],
  [0, 0, 0, true],
]
for (const [completions, succeeded, active, expected] of complete) {
  test(`${succeeded} succeeded and ${active} active of ${completions ?? 'no'} completions: ${expected ? 'complete' : 'not complete'}`, () => {
    const subject = job({ spec: completions === undefined ? {} : { completions } })
    assert.equal(isComplete(subject, succeeded, active), expected)
  })
}
