import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job, Pod } from '@gyropilot/api'
import { NOW_MS, refused, secondsAgo } from '../workload-support/fixtures.ts'
import {
  conditionOf,
  indexedJob,
  job,
  jobPod,
  jobPods,
  lastStatusOf,
  podWritesOf,
  reasonsOf,
  statusesOf,
  syncOf,
} from './fixtures.ts'
import { JobMemory } from './memory.ts'

const NOW = secondsAgo(0)
const done = (type: string): Job => job({ status: { conditions: [{ type, status: 'True' }] } })

// 3.-6.

const idle: readonly (readonly [string, Job])[] = [
  ['that another controller manages', job({ spec: { managedBy: 'example.com/x' } })],
  ['that is complete', done('Complete')],
  ['that has failed', done('Failed')],
]
for (const [title, subject] of idle) {
  test(`nothing is done for a Job ${title}`, () => {
    assert.deepEqual(syncOf(subject, []).effects, [])
  })
}

test('a Job whose managedBy names this controller is its own', () => {
  const subject = job({ spec: { managedBy: 'kubernetes.io/job-controller' } })
  assert.deepEqual(podWritesOf(syncOf(subject, [])), ['create'])
})

test('nothing is remembered of a finished Job', () => {
  const memory = new JobMemory()
  memory.markFinished('ns/work', 'work-uid')
  syncOf(done('Complete'), [], { memory })
  assert.equal(memory.size, 0)
})

test('Given a Job already finished in status but old in cache, then no second finish', () => {
  const memory = new JobMemory()
  const subject = job({ spec: { completions: 1 }, status: { startTime: NOW, succeeded: 1 } })
  const first = syncOf(subject, [], { memory })
  assert.deepEqual(reasonsOf(first), ['Completed'])
  assert.deepEqual(syncOf(subject, [], { memory }).effects, [])
  const namesake = { ...subject, metadata: { ...subject.metadata, uid: 'another' } }
  assert.deepEqual(reasonsOf(syncOf(namesake, [], { memory })), ['Completed'])
})

test('an end whose write failed is written again', () => {
  const memory = new JobMemory()
  const subject = job({ spec: { completions: 1 }, status: { startTime: NOW, succeeded: 1 } })
  const conflict = () => refused(409, 'Conflict')
  const onWrite = (_: unknown, index: number) => (index === 1 ? conflict() : undefined)
  assert.ok(syncOf(subject, [], { memory, onWrite }).result?.error)
  assert.deepEqual(reasonsOf(syncOf(subject, [], { memory })), ['Completed'])
})

test('a completion mode that is not known is said, and no error', () => {
  const subject = job({ spec: { completionMode: 'Other' as 'Indexed' } })
  const { effects, events, result } = syncOf(subject, [])
  assert.equal(effects.length, 1)
  assert.deepEqual(events, [
    {
      type: 'Warning',
      reason: 'UnknownCompletionMode',
      message: 'Skipped Job sync because completion mode is unknown',
    },
  ])
  assert.equal(result, undefined)
})

// 9.

test('an orphan that is adopted has the finalizer for the rest of the sync', () => {
  const orphan = jobPod('p', { phase: 'Failed', tracked: false, metadata: { ownerReferences: [] } })
  const synced = syncOf(job(), [orphan], { onRead: () => ({ ok: true, object: job() }) })
  const [adoption] = synced.writes
  assert.ok(adoption?.verb === 'patch' && adoption.patch.type === 'strategic')
  assert.deepEqual(
    (adoption.patch.value as { metadata: { finalizers: unknown } }).metadata.finalizers,
    ['batch.kubernetes.io/job-tracking'],
  )
  assert.deepEqual(podWritesOf(synced), ['patch p', 'create', 'patch p'])
  assert.equal(lastStatusOf(synced).failed, 1)
})

test('an owned pod that does not match any more is released, with its finalizer, and does not count', () => {
  const moved = jobPod('p', { phase: 'Failed', metadata: { labels: { job: 'x' } } })
  const synced = syncOf(job(), [moved])
  const [release] = synced.writes
  assert.ok(release?.verb === 'patch' && release.patch.type === 'strategic')
  assert.deepEqual(release.patch.value, {
    metadata: {
      uid: 'p-uid',
      ownerReferences: [{ $patch: 'delete', uid: 'work-uid' }],
      '$deleteFromPrimitiveList/finalizers': ['batch.kubernetes.io/job-tracking'],
    },
  })
  assert.equal(lastStatusOf(synced).failed, undefined)
})

test('Any claim error aborts the sync', () => {
  const moved = jobPod('p', { metadata: { labels: { job: 'x' } } })
  const synced = syncOf(job(), [moved], { onWrite: () => refused(500, 'InternalError') })
  assert.ok(synced.result?.error)
  assert.equal(synced.writes.length, 1)
})

// 10.-13.

test('active, ready and terminating are what the sync leaves', () => {
  const subject = job({ spec: { parallelism: 3 } })
  const present = [
    jobPod('a', { ready: true }),
    jobPod('b', { ready: true }),
    jobPod('c', { deleting: true, ready: true, tracked: false }),
    jobPod('d', { phase: 'Succeeded', tracked: false }),
    jobPod('e', { phase: 'Failed', tracked: false, deleting: true }),
  ]
  const { active, ready, terminating } = lastStatusOf(syncOf(subject, present))
  assert.deepEqual([active, ready, terminating], [3, 2, 1])
})

test('the start is that of the first sync that is not suspended', () => {
  const fresh = { status: {} }
  assert.equal(lastStatusOf(syncOf(job(fresh), [])).startTime, NOW)
  assert.equal(
    lastStatusOf(syncOf(job({ ...fresh, spec: { suspend: true } }), [])).startTime,
    undefined,
  )
  const later = job({ spec: { parallelism: 2 } })
  assert.equal(lastStatusOf(syncOf(later, [])).startTime, secondsAgo(60))
})

test('Pod with no tracking finalizer and not in the uncounted lists is never counted', () => {
  const ended = [
    jobPod('a', { phase: 'Succeeded', tracked: false }),
    jobPod('b', { phase: 'Failed', tracked: false }),
  ]
  const { succeeded, failed } = lastStatusOf(syncOf(job({ spec: { backoffLimit: 0 } }), ended))
  assert.deepEqual([succeeded, failed], [undefined, undefined])
})

test('a pod whose release is awaited is neither counted nor released again', () => {
  const memory = new JobMemory()
  memory.expectRemovals('ns/work', 'work-uid', ['p-uid'])
  const synced = syncOf(job({ spec: { backoffLimit: 0 } }), [jobPod('p', { phase: 'Failed' })], {
    memory,
  })
  assert.deepEqual(podWritesOf(synced), ['create'])
  assert.equal(lastStatusOf(synced).failed, undefined)
})

test('a Job that is as it should be is not written', () => {
  const status = {
    startTime: secondsAgo(60),
    active: 1,
    ready: 0,
    terminating: 0,
    uncountedTerminatedPods: {},
  }
  const synced = syncOf(job({ status }), [jobPod('p')])
  assert.deepEqual(synced.effects, [])
  assert.deepEqual(synced.result, {})
})

// 15.-17.

test('an end deletes all that runs, announces itself with the pods counted, and waits for them', () => {
  const subject = job({ spec: { parallelism: 3, backoffLimit: 0 } })
  const present = [jobPod('a', { phase: 'Failed' }), jobPod('b', { ready: true }), jobPod('c')]
  const synced = syncOf(subject, present)
  assert.deepEqual(podWritesOf(synced), ['delete b', 'delete c', 'patch a', 'patch b', 'patch c'])
  assert.deepEqual(reasonsOf(synced), ['SuccessfulDelete', 'SuccessfulDelete'])
  const [announced, counted] = statusesOf(synced)
  const target = conditionOf(
    'FailureTarget',
    'BackoffLimitExceeded',
    'Job has reached the specified backoff limit',
  )
  assert.deepEqual(announced, {
    startTime: secondsAgo(60),
    ready: 0,
    terminating: 2,
    conditions: [target],
    uncountedTerminatedPods: { failed: ['a-uid', 'b-uid', 'c-uid'] },
  })
  assert.deepEqual(counted, { ...announced, failed: 3, uncountedTerminatedPods: {} })
})

test('a condition of the end that somebody wrote as not true gives its place to the one that is', () => {
  const foreign = { ...conditionOf('Failed', 'Mine', 'mine'), status: 'False' }
  const target = conditionOf('FailureTarget', 'R', 'M')
  const status = {
    startTime: NOW,
    ready: 0,
    terminating: 0,
    conditions: [foreign, target],
    uncountedTerminatedPods: {},
  }
  assert.deepEqual(lastStatusOf(syncOf(job({ status }), [])).conditions, [
    conditionOf('Failed', 'R', 'M'),
    target,
  ])
})

test('Terminal condition waits for terminating == 0 and empty uncounted lists, even though FailureTarget/SuccessCriteriaMet is visible earlier', () => {
  const target = conditionOf('FailureTarget', 'R', 'M')
  const subject = job({
    status: {
      startTime: NOW,
      ready: 0,
      terminating: 1,
      conditions: [target],
      uncountedTerminatedPods: {},
    },
  })
  const leaving = jobPod('a', { deleting: true, tracked: false })
  assert.deepEqual(syncOf(subject, [leaving]).effects, [])
  const synced = syncOf(subject, [])
  assert.deepEqual(
    statusesOf(synced).map(({ conditions }) => conditions?.map(({ type }) => type)),
    [['FailureTarget'], ['FailureTarget', 'Failed']],
  )
  assert.deepEqual(lastStatusOf(synced).conditions?.[1], conditionOf('Failed', 'R', 'M'))
  assert.deepEqual(synced.events, [{ type: 'Warning', reason: 'R', message: 'M' }])
  assert.equal(lastStatusOf(synced).completionTime, undefined)
})

test('an end does not stand while a pod that runs could not be deleted', () => {
  const subject = job({ spec: { backoffLimit: 0, parallelism: 2 } })
  const present = [jobPod('a', { phase: 'Failed' }), jobPod('b')]
  const onWrite = (write: { verb: string }) =>
    write.verb === 'delete' ? refused(500, 'InternalError') : undefined
  const synced = syncOf(subject, present, { onWrite })
  assert.ok(synced.result?.error)
  assert.deepEqual(
    statusesOf(synced).map(({ conditions }) => conditions),
    [undefined, undefined],
  )
  assert.deepEqual([lastStatusOf(synced).failed, lastStatusOf(synced).active], [1, 1])
  assert.deepEqual(podWritesOf(synced), ['delete b', 'patch a'])
})

test('an end does not stand while pods are awaited that the cache does not show', () => {
  const subject = job({ spec: { backoffLimit: 0 } })
  const synced = syncOf(subject, [jobPod('a', { phase: 'Failed' }), jobPod('b')], {
    expectationsMet: false,
  })
  assert.deepEqual(
    statusesOf(synced).map(({ conditions }) => conditions),
    [undefined, undefined],
  )
  assert.deepEqual(podWritesOf(synced), ['delete b', 'patch a'])
})

test('a suspension that comes with an end waits for what becomes of the end', () => {
  const subject = job({ spec: { backoffLimit: 0, suspend: true } })
  const synced = syncOf(subject, [jobPod('a', { phase: 'Failed' })], { expectationsMet: false })
  assert.equal(lastStatusOf(synced).conditions, undefined)
  assert.deepEqual(reasonsOf(synced), [])
})

test('a pod that is gone counts as deleted', () => {
  const subject = job({ spec: { backoffLimit: 0, parallelism: 2 } })
  const onWrite = (write: { verb: string }) =>
    write.verb === 'delete' ? refused(404, 'NotFound') : undefined
  const synced = syncOf(subject, [jobPod('a', { phase: 'Failed' }), jobPod('b')], { onWrite })
  assert.equal(synced.result?.error, undefined)
  assert.equal(lastStatusOf(synced).terminating, 1)
})

test('When the Job fails, Pods still running are counted as failed; when it succeeds early by policy, they are not', () => {
  const successPolicy = { rules: [{ succeededCount: 1 }] }
  const present = [jobPod('a', { index: 0, phase: 'Succeeded' }), jobPod('b', { index: 1 })]
  const synced = syncOf(indexedJob({ spec: { successPolicy } }), present)
  assert.deepEqual(podWritesOf(synced), ['delete b', 'patch a', 'patch b'])
  const { succeeded, failed, completedIndexes, terminating, conditions } = lastStatusOf(synced)
  assert.deepEqual([succeeded, failed, completedIndexes, terminating], [1, undefined, '0', 1])
  assert.deepEqual(conditions, [
    conditionOf('SuccessCriteriaMet', 'SuccessPolicy', 'Matched rules at index 0'),
  ])
})

test('Two status writes finish a Job: interim condition first, finalizers removed, then the terminal condition', () => {
  const synced = syncOf(job({ spec: { completions: 1 } }), [jobPod('p', { phase: 'Succeeded' })])
  assert.deepEqual(
    synced.writes.map(({ verb, type }) => `${verb} ${type.resource}`),
    ['update jobs', 'patch pods', 'update jobs'],
  )
  const [first, second] = statusesOf(synced)
  const text = 'Reached expected number of succeeded pods'
  const met = conditionOf('SuccessCriteriaMet', 'CompletionsReached', text)
  assert.deepEqual([first!.conditions, first!.succeeded], [[met], undefined])
  assert.deepEqual(first!.uncountedTerminatedPods, { succeeded: ['p-uid'] })
  const complete = conditionOf('Complete', 'CompletionsReached', text)
  assert.deepEqual(second, {
    startTime: secondsAgo(60),
    completionTime: NOW,
    ready: 0,
    terminating: 0,
    succeeded: 1,
    conditions: [met, complete],
    uncountedTerminatedPods: {},
  })
  assert.deepEqual(synced.events, [
    { type: 'Normal', reason: 'Completed', message: 'Job completed' },
  ])
})

test('more successes than completions are said', () => {
  const subject = job({
    spec: { completions: 1 },
    status: { startTime: NOW, succeeded: 2, uncountedTerminatedPods: {} },
  })
  assert.deepEqual(
    syncOf(subject, []).events.map(({ type, reason, message }) => [type, reason, message]),
    [
      [
        'Warning',
        'TooManySucceededPods',
        'Too many succeeded pods running after completion count reached',
      ],
      ['Normal', 'Completed', 'Job completed'],
    ],
  )
  const { completions: _, ...spec } = subject.spec!
  assert.deepEqual(reasonsOf(syncOf({ ...subject, spec }, [])), ['Completed'])
})

test('until the deadline the key is looked at again when it is over', () => {
  const subject = job({ spec: { activeDeadlineSeconds: 100 } })
  assert.deepEqual(syncOf(subject, []).result, { requeueAfterMs: 40_000 })
})

test('nothing is created or deleted while expectations are not met, and the rest goes on', () => {
  const subject = job({ spec: { parallelism: 3, completions: 4 } })
  const synced = syncOf(subject, [jobPod('p', { phase: 'Succeeded' })], { expectationsMet: false })
  assert.deepEqual(podWritesOf(synced), ['patch p'])
  assert.equal(lastStatusOf(synced).succeeded, 1)
})

test('A Job being deleted never gets new Pods, but all its Pods lose the finalizer', () => {
  const subject = job({
    metadata: { deletionTimestamp: NOW },
    spec: { parallelism: 5, completions: 5 },
  })
  const present = [
    jobPod('a'),
    jobPod('b', { phase: 'Failed' }),
    jobPod('c', { phase: 'Succeeded' }),
  ]
  const synced = syncOf(subject, present)
  assert.deepEqual(podWritesOf(synced), ['patch a', 'patch b', 'patch c'])
  const { active, failed, succeeded } = lastStatusOf(synced)
  assert.deepEqual([active, failed, succeeded], [1, 1, 1])
})

// Pod management.

test('A suspended Job with completions 0 completes although startTime is nil', () => {
  const synced = syncOf(job({ spec: { suspend: true, completions: 0 }, status: {} }), [])
  assert.deepEqual(
    lastStatusOf(synced).conditions?.map(({ type }) => type),
    ['SuccessCriteriaMet', 'Complete'],
  )
  assert.equal(lastStatusOf(synced).startTime, undefined)
  assert.deepEqual(reasonsOf(synced), ['Completed'])
})

test('suspending deletes all that runs, 500 and more at once, and counts none', () => {
  const subject = job({ spec: { suspend: true, parallelism: 510 } })
  const synced = syncOf(subject, jobPods(510, { ready: true }))
  const writes = podWritesOf(synced)
  assert.equal(writes.filter((write) => write.startsWith('patch')).length, 510)
  assert.equal(writes.filter((write) => write.startsWith('delete')).length, 510)
  const { active, ready, terminating, failed, startTime, conditions } = lastStatusOf(synced)
  assert.deepEqual(
    [active, ready, terminating, failed, startTime],
    [undefined, 0, 510, undefined, undefined],
  )
  assert.equal(conditions?.[0]?.reason, 'JobSuspended')
  assert.equal(reasonsOf(synced).filter((reason) => reason === 'Suspended').length, 1)
})

test('with the gate MutableSchedulingDirectivesForSuspendedJobs off a suspended Job keeps its start', () => {
  const subject = job({ spec: { suspend: true } })
  const settings = { suspensionClearsStart: false }
  assert.equal(lastStatusOf(syncOf(subject, [], { settings })).startTime, secondsAgo(60))
})

test('a Job that is resumed starts anew', () => {
  const conditions = [
    {
      ...conditionOf('Suspended', 'JobSuspended', 'Job suspended'),
      lastTransitionTime: secondsAgo(90),
    },
  ]
  const subject = job({
    status: { conditions, ready: 0, terminating: 0, startTime: secondsAgo(100) },
  })
  const synced = syncOf(subject, [])
  assert.equal(lastStatusOf(synced).startTime, NOW)
  assert.deepEqual(lastStatusOf(synced).conditions, [
    { ...conditionOf('Suspended', 'JobResumed', 'Job resumed'), status: 'False' },
  ])
  assert.deepEqual(reasonsOf(synced), ['SuccessfulCreate', 'Resumed'])
  assert.deepEqual(synced.events.at(-1), {
    type: 'Normal',
    reason: 'Resumed',
    message: 'Job resumed',
  })
  const { events } = syncOf(job({ spec: { suspend: true } }), [])
  assert.deepEqual(events, [{ type: 'Normal', reason: 'Suspended', message: 'Job suspended' }])
})

test('`status.uncountedTerminatedPods` nil becomes an empty object', () => {
  const synced = syncOf(job({ status: {} }), [])
  assert.deepEqual(lastStatusOf(synced).uncountedTerminatedPods, {})
})

test('what a Job does not say: one pod at a time, six failures', () => {
  const { parallelism: _, backoffLimit: _limit, ...spec } = job().spec!
  const silent = { ...job(), spec }
  assert.deepEqual(podWritesOf(syncOf(silent, [])).length, 1)
  const failures = (count: number) =>
    syncOf({ ...silent, status: { ...silent.status, failed: count } }, [
      jobPod('p', { phase: 'Failed', finishedSecondsAgo: 9_999 }),
    ])
  const announced = (count: number) =>
    lastStatusOf(failures(count)).conditions?.some(({ type }) => type === 'FailureTarget') ?? false
  assert.deepEqual([announced(5), announced(6)], [false, true])
})

test('suspension is not judged while pods are not managed', () => {
  const synced = syncOf(job({ spec: { suspend: true } }), [jobPod('p')], { expectationsMet: false })
  assert.deepEqual([lastStatusOf(synced).conditions, reasonsOf(synced)], [undefined, []])
})

const wanted: readonly (readonly [string, Job, readonly Pod[], number])[] = [
  ['parallelism, without completions', job({ spec: { parallelism: 3 } }), jobPods(1), 2],
  [
    'none more, without completions and with a success',
    job({ spec: { parallelism: 3 }, status: { startTime: NOW, succeeded: 1 } }),
    jobPods(1),
    0,
  ],
  ['parallelism, below what is missing', job({ spec: { parallelism: 2, completions: 5 } }), [], 2],
  [
    'what is missing, below parallelism',
    job({ spec: { parallelism: 4, completions: 5 }, status: { startTime: NOW, succeeded: 2 } }),
    [],
    3,
  ],
  ['none with parallelism 0', job({ spec: { parallelism: 0, completions: 5 } }), [], 0],
  ['500 at once', job({ spec: { parallelism: 700 } }), [], 500],
  [
    'in the place of one on its way out',
    job({ spec: { parallelism: 2 } }),
    [jobPod('a', { deleting: true, tracked: false }), jobPod('b')],
    1,
  ],
  [
    'none in the place of one on its way out, replacement policy Failed',
    job({ spec: { parallelism: 2, podReplacementPolicy: 'Failed' } }),
    [jobPod('a', { deleting: true }), jobPod('b')],
    0,
  ],
  [
    'none in the place of one on its way out, with a failure policy',
    job({ spec: { parallelism: 2, podFailurePolicy: { rules: [] } } }),
    [jobPod('a', { deleting: true }), jobPod('b')],
    0,
  ],
]
for (const [title, subject, present, count] of wanted) {
  test(`created: ${title}`, () => {
    const synced = syncOf(subject, present)
    const created = podWritesOf(synced).filter((write) => write.startsWith('create'))
    assert.equal(created.length, count)
    const active = present.filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
    const { effects } = synced
    assert.equal(
      lastStatusOf(synced).active ?? (effects.length === 0 ? active.length : 0),
      active.length + count,
    )
  })
}

test('surplus pods lose the finalizer, are deleted, and nothing is created beside', () => {
  const subject = job({ spec: { parallelism: 1 } })
  const synced = syncOf(subject, [
    jobPod('a', { ready: true }),
    jobPod('b', { ready: true }),
    jobPod('c'),
  ])
  assert.deepEqual(podWritesOf(synced), ['patch c', 'patch a', 'delete c', 'delete a'])
  const expectation = synced.effects.flatMap((effect) =>
    effect.effect === 'writes' && effect.expectations ? [effect.expectations] : [],
  )
  assert.deepEqual(expectation, [
    { kind: 'deletions', key: 'ns/work', dependents: ['ns/c', 'ns/a'] },
  ])
  const { active, ready, terminating, failed } = lastStatusOf(synced)
  assert.deepEqual([active, ready, terminating, failed], [1, 1, 2, undefined])
})

test('a surplus pod without the finalizer is just deleted', () => {
  const subject = job({ spec: { parallelism: 0 } })
  const synced = syncOf(subject, [jobPod('a', { tracked: false }), jobPod('b')])
  assert.deepEqual(podWritesOf(synced), ['patch b', 'delete a', 'delete b'])
})

test('a surplus pod whose finalizer stays is not deleted; one that is gone is no error', () => {
  const onWrite = (write: { verb: string; name?: string }) => {
    if (write.verb !== 'patch') return undefined
    return write.name === 'a' ? refused(500, 'InternalError') : refused(404, 'NotFound')
  }
  const subject = job({ spec: { parallelism: 0 } })
  const synced = syncOf(subject, [jobPod('a'), jobPod('b')], { onWrite: onWrite as never })
  assert.deepEqual(podWritesOf(synced), ['patch a', 'patch b', 'delete b'])
  assert.ok(synced.result?.error)
  assert.equal(lastStatusOf(synced).active, 1)
})

test('no deletion is sent when no finalizer could be taken away, and a deletion that fails is an error', () => {
  const refusing = (verb: string) => (write: { verb: string }) =>
    write.verb === verb ? refused(500, 'InternalError') : undefined
  const subject = job({ spec: { parallelism: 0 } })
  const held = syncOf(subject, [jobPod('a')], { onWrite: refusing('patch') })
  assert.deepEqual([podWritesOf(held), held.result?.error !== undefined], [['patch a'], true])
  const kept = syncOf(subject, [jobPod('a')], { onWrite: refusing('delete') })
  assert.ok(kept.result?.error)
  assert.equal(lastStatusOf(kept).active, 1)
})

test('Backoff wait must report the real active count, and the key is looked at when it is over', () => {
  const subject = job({ spec: { parallelism: 3 } })
  const present = [
    jobPod('a', { ready: true }),
    jobPod('b', { phase: 'Failed', finishedSecondsAgo: 4 }),
  ]
  const synced = syncOf(subject, present)
  assert.deepEqual(podWritesOf(synced), ['patch b'])
  assert.deepEqual(
    [lastStatusOf(synced).active, lastStatusOf(synced).ready, lastStatusOf(synced).failed],
    [1, 1, 1],
  )
  assert.deepEqual(synced.result, { requeueAfterMs: 6_000 })
})

test('a wait is a second at least', () => {
  const present = [jobPod('b', { phase: 'Failed', finishedSecondsAgo: 9.5 as number })]
  assert.deepEqual(syncOf(job(), present).result, { requeueAfterMs: 1_000 })
})

test('the wait is remembered once it is written, and of two waits the shorter counts', () => {
  const memory = new JobMemory()
  const failed = jobPod('b', { phase: 'Failed', finishedSecondsAgo: 4 })
  const conflict = { onWrite: () => refused(409, 'Conflict') }
  assert.ok(syncOf(job(), [failed], { memory, ...conflict }).result?.error)
  assert.equal(memory.size, 0)
  syncOf(job(), [failed], { memory })
  assert.deepEqual(memory.backoff('ns/work', 'work-uid'), {
    failures: 1,
    lastFailureMs: NOW_MS - 4_000,
  })
  const subject = job({ spec: { activeDeadlineSeconds: 63 } })
  assert.deepEqual(syncOf(subject, [], { memory }).result, { requeueAfterMs: 3_000 })
})

test('Failing to create one Pod of a batch stops the batch doubling', () => {
  const subject = job({ spec: { parallelism: 10 } })
  let creates = 0
  const onWrite = (write: { verb: string }) =>
    write.verb === 'create' && ++creates === 3 ? refused(500, 'InternalError', 'no') : undefined
  const synced = syncOf(subject, [], { onWrite })
  assert.equal(podWritesOf(synced).length, 3)
  assert.equal(lastStatusOf(synced).active, 2)
  assert.ok(synced.result?.error, 'returned after status was written')
  assert.deepEqual(reasonsOf(synced), ['SuccessfulCreate', 'SuccessfulCreate', 'FailedCreate'])
})

test('A create refused because the namespace is terminating is ignored silently', () => {
  const onWrite = (write: { verb: string }) =>
    write.verb === 'create' ? refused(403, 'Forbidden', 'no', 'NamespaceTerminating') : undefined
  const synced = syncOf(job({ spec: { parallelism: 2 } }), [], { onWrite })
  assert.deepEqual([synced.result, reasonsOf(synced)], [{}, []])
  assert.equal(lastStatusOf(synced).active, 2)
})
