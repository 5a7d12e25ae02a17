import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Job, Pod } from '@gyropilot/api'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { refused, secondsAgo } from '../workload-support/fixtures.ts'
import {
  INDEX_RULES,
  indexedJob,
  job,
  jobPod,
  lastStatusOf,
  perIndexJob,
  statusesOf,
  syncOf,
} from './fixtures.ts'
import { JobMetrics } from './metrics.ts'

const NOW = secondsAgo(0)

/** Without series that are at zero. */
function metricsOf(
  subject: Job,
  present: readonly Pod[],
  options: Parameters<typeof syncOf>[2] = {},
): readonly string[] {
  return seriesOf(subject, present, options).filter((line) => !line.endsWith(' 0'))
}

function seriesOf(
  subject: Job,
  present: readonly Pod[],
  options: Parameters<typeof syncOf>[2] = {},
): readonly string[] {
  const registry = new PrometheusRegistry()
  syncOf(subject, present, { ...options, settings: { metrics: new JobMetrics(registry) } })
  return registry
    .expose()
    .split('\n')
    .filter((line) => line.startsWith('job_controller_') && !line.includes('duration'))
    .map((line) => line.slice('job_controller_'.length))
}

const metricCases: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    'a new pod',
    metricsOf(job(), []),
    [
      'job_pods_creation_total{reason="new",status="succeeded"} 1',
      'job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="success"} 1',
    ],
  ],
  [
    'a new pod that is refused',
    metricsOf(job(), [], {
      onWrite: (write) => (write.verb === 'create' ? refused(500, 'InternalError') : undefined),
    }),
    [
      'job_pods_creation_total{reason="new",status="failed"} 1',
      'job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="error"} 1',
    ],
  ],
  [
    'pods of which the third is refused, and the rest never asked for',
    metricsOf(job({ spec: { parallelism: 10 } }), [], {
      onWrite: (write, index) =>
        write.verb === 'create' && index === 2 ? refused(500, 'InternalError') : undefined,
    }),
    [
      'job_pods_creation_total{reason="new",status="failed"} 1',
      'job_pods_creation_total{reason="new",status="succeeded"} 2',
      'job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="error"} 1',
    ],
  ],
  [
    'a new pod of a Job that replaces only what has failed',
    metricsOf(job({ spec: { podReplacementPolicy: 'Failed' } }), []),
    [
      'job_pods_creation_total{reason="new",status="succeeded"} 1',
      'job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="success"} 1',
    ],
  ],
  [
    'a new pod beside one on its way out that nobody counts',
    metricsOf(job(), [jobPod('a', { deleting: true, tracked: false })]),
    [
      'job_pods_creation_total{reason="recreate_terminating_or_failed",status="succeeded"} 1',
      'job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="success"} 1',
    ],
  ],
  [
    'a new pod in a namespace that is being emptied',
    metricsOf(job(), [], {
      onWrite: (write) =>
        write.verb === 'create'
          ? refused(403, 'Forbidden', 'no', 'NamespaceTerminating')
          : undefined,
    }),
    ['job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="success"} 1'],
  ],
  [
    'a replacement',
    metricsOf(job({ status: { startTime: NOW, failed: 1 } }), []),
    [
      'job_pods_creation_total{reason="recreate_terminating_or_failed",status="succeeded"} 1',
      'job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="success"} 1',
    ],
  ],
  [
    'a replacement of what has failed',
    metricsOf(
      job({ spec: { podReplacementPolicy: 'Failed' }, status: { startTime: NOW, failed: 1 } }),
      [],
    ),
    [
      'job_pods_creation_total{reason="recreate_failed",status="succeeded"} 1',
      'job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="success"} 1',
    ],
  ],
  [
    'one more beside one on its way out, where only what has failed is replaced',
    metricsOf(job({ spec: { podReplacementPolicy: 'Failed', parallelism: 2, completions: 2 } }), [
      jobPod('a', { deleting: true }),
    ]),
    [
      'job_pods_creation_total{reason="recreate_terminating_or_failed",status="succeeded"} 1',
      'job_syncs_total{action="pods_created",completion_mode="NonIndexed",result="success"} 1',
    ],
  ],
  [
    'too many pods',
    metricsOf(job(), [jobPod('a'), jobPod('b')]),
    ['job_syncs_total{action="pods_deleted",completion_mode="NonIndexed",result="success"} 1'],
  ],
  [
    'as many pods as wanted',
    metricsOf(job(), [jobPod('a')]),
    ['job_syncs_total{action="tracking",completion_mode="NonIndexed",result="success"} 1'],
  ],
  [
    'an indexed Job that completes',
    metricsOf(
      indexedJob({ spec: { completions: 2 } }),
      [0, 1].map((index) => jobPod(`p${index}`, { index, phase: 'Succeeded' })),
    ),
    [
      'job_finished_indexes_total{backoffLimit="global",status="succeeded"} 2',
      'job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 2',
      'job_syncs_total{action="tracking",completion_mode="Indexed",result="success"} 1',
      'jobs_finished_total{completion_mode="Indexed",reason="CompletionsReached",result="succeeded"} 1',
    ],
  ],
  [
    'an index that fails by a rule',
    metricsOf(perIndexJob({ ...INDEX_RULES, completions: 2 }), [
      jobPod('a', { index: 0, phase: 'Failed', exitCode: 2 }),
      jobPod('b', { index: 1, phase: 'Failed', exitCode: 3, finishedSecondsAgo: 1 }),
    ]),
    [
      'job_finished_indexes_total{backoffLimit="perIndex",status="failed"} 1',
      'job_pods_finished_total{completion_mode="Indexed",result="failed"} 1',
      'job_syncs_total{action="pods_created",completion_mode="Indexed",result="success"} 1',
      'pod_failures_handled_by_failure_policy_total{action="FailIndex"} 1',
    ],
  ],
  [
    'a Job that fails',
    metricsOf(job({ spec: { backoffLimit: 0 } }), [jobPod('a', { phase: 'Failed' })]),
    [
      'job_pods_finished_total{completion_mode="NonIndexed",result="failed"} 1',
      'job_syncs_total{action="reconciling",completion_mode="NonIndexed",result="success"} 1',
      'jobs_finished_total{completion_mode="NonIndexed",reason="BackoffLimitExceeded",result="failed"} 1',
    ],
  ],
  [
    'indexes that were counted before',
    metricsOf(
      perIndexJob({}, { completedIndexes: '0', failedIndexes: '1', succeeded: 1, failed: 2 }),
      [jobPod('a', { index: 0, phase: 'Succeeded' })],
    ),
    [
      'job_syncs_total{action="reconciling",completion_mode="Indexed",result="success"} 1',
      'jobs_finished_total{completion_mode="Indexed",reason="FailedIndexes",result="failed"} 1',
    ],
  ],
  ['a Job that another manages', metricsOf(job({ spec: { managedBy: 'example.com/x' } }), []), []],
]
for (const [title, found, expected] of metricCases) {
  test(`metrics of ${title}`, () => {
    assert.deepEqual(found.toSorted(), expected.toSorted())
  })
}

test('the duration of a sync is in seconds, in buckets from 4 ms', () => {
  const registry = new PrometheusRegistry()
  new JobMetrics(registry).synced(job(), 'tracking', true, 5)
  const text = registry.expose()
  const labels = 'action="tracking",completion_mode="NonIndexed",result="success"'
  assert.match(text, new RegExp(`duration_seconds_bucket{${labels},le="0.004"} 0`))
  assert.match(text, new RegExp(`duration_seconds_bucket{${labels},le="0.008"} 1`))
  assert.match(text, new RegExp(`duration_seconds_bucket{${labels},le="65.536"} 1`))
})

test('names, types, stability and help are those of upstream', () => {
  const registry = new PrometheusRegistry()
  const metrics = new JobMetrics(registry)
  metrics.synced(job(), 'tracking', true, 5)
  metrics.podsCounted(job(), 1, 1)
  metrics.failureHandled('Count')
  const text = registry.expose()
  for (const line of [
    '# HELP job_controller_job_syncs_total [STABLE] The number of job syncs',
    '# TYPE job_controller_job_syncs_total counter',
    '# HELP job_controller_job_sync_duration_seconds [STABLE] The time it took to sync a job',
    '# TYPE job_controller_job_sync_duration_seconds histogram',
    '# HELP job_controller_job_pods_finished_total [STABLE] The number of finished Pods that are fully tracked',
    '# HELP job_controller_pod_failures_handled_by_failure_policy_total [BETA] The number of failed Pods handled by failure policy with\\n\t\t\trespect to the failure policy action applied based on the matched\\n\t\t\trule. Possible values of the action label correspond to the\\n\t\t\tpossible values for the failure policy rule action, which are:\\n\t\t\t"FailJob", "Ignore" and "Count".',
  ])
    assert.ok(text.split('\n').includes(line), line)
})

test('a sync that takes no time took none', () => {
  const registry = new PrometheusRegistry()
  syncOf(job(), [], { settings: { metrics: new JobMetrics(registry) } })
  assert.match(registry.expose(), /job_sync_duration_seconds_sum\{[^}]*\} 0\n/)
})

test('finished pods and indexes have their series, at zero, from the first status on', () => {
  const atZero = (subject: Job): readonly string[] =>
    seriesOf(subject, []).filter((line) => line.endsWith(' 0'))
  const podsOf = (mode: string): readonly string[] =>
    ['failed', 'succeeded'].map(
      (result) => `job_pods_finished_total{completion_mode="${mode}",result="${result}"} 0`,
    )
  assert.deepEqual(atZero(job()), podsOf('NonIndexed'))
  assert.deepEqual(atZero(perIndexJob()), [
    'job_finished_indexes_total{backoffLimit="perIndex",status="succeeded"} 0',
    ...podsOf('Indexed'),
  ])
})

test('a status that is right already counts nothing, and makes no series', () => {
  const fresh = perIndexJob()
  const known = { ...fresh, status: lastStatusOf(syncOf(fresh, [])) }
  const pods = [0, 1, 2].map((index) => jobPod(`p${index}`, { index }))
  const settled = { ...known, status: lastStatusOf(syncOf(known, pods)) }
  assert.deepEqual(statusesOf(syncOf(settled, pods)), [])
  assert.deepEqual(
    seriesOf(settled, pods).filter((line) => line.includes('finished')),
    [],
  )
})

test('indexes that are dropped are not taken back from what was counted', () => {
  const shrunk = indexedJob({
    spec: { completions: 2, parallelism: 2 },
    status: { startTime: NOW, succeeded: 3, completedIndexes: '0,2,4' },
  })
  assert.ok(
    seriesOf(shrunk, []).includes(
      'job_pods_finished_total{completion_mode="Indexed",result="succeeded"} 0',
    ),
  )
})

test('how long a sync took is told by a clock that nobody sets', () => {
  const registry = new PrometheusRegistry()
  const moments = [7_000, 7_250]
  syncOf(job(), [], {
    settings: { metrics: new JobMetrics(registry) },
    elapsedMs: () => moments.shift()!,
  })
  assert.match(registry.expose(), /job_sync_duration_seconds_sum\{[^}]*\} 0.25\n/)
})
