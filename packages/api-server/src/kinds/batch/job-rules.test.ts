import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rememberEmpty } from '@gyropilot/schema/given-value'
import type { Draft } from '../../registry/kind-rules.ts'
import { FieldErrors } from '@gyropilot/schema/field-errors'
import { context, createErrors, podSpec } from '../fixtures.ts'
import { job as rules } from './job.ts'

const JOB = { group: 'batch', version: 'v1', kind: 'Job' }
const CRON_JOB = { group: 'batch', version: 'v1', kind: 'CronJob' }
const job = (rest: Draft = {}): Draft => ({
  metadata: { name: 'j' },
  spec: { template: { spec: podSpec({}, { restartPolicy: 'Never' }) }, ...rest },
})
const cronJob = (rest: Draft): Draft => ({
  spec: { schedule: '* * * * *', jobTemplate: { spec: job().spec }, ...rest },
})

test('completion modes and policies', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [{ completionMode: 'Indexed' }, []],
    [
      { completionMode: 'x' },
      ['spec.completionMode: Unsupported value: "x": supported values: "NonIndexed", "Indexed"'],
    ],
    [
      { backoffLimitPerIndex: 1 },
      ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode'],
    ],
    [
      { maxFailedIndexes: 1 },
      [
        'spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified',
        'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
      ],
    ],
    [
      { completions: 2, completionMode: 'Indexed', backoffLimitPerIndex: 1, maxFailedIndexes: 3 },
      ['spec.maxFailedIndexes: Invalid value: 3: must be less than or equal to completions'],
    ],
    [
      { successPolicy: { rules: [] }, completionMode: 'Indexed', completions: 2 },
      [
        'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified',
      ],
    ],
    [
      { successPolicy: { rules: [{ succeededCount: 1 }] } },
      [
        'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: requires indexed completion mode',
      ],
    ],
    [
      {
        successPolicy: { rules: [{ succeededIndexes: '0-5', succeededCount: 9 }, {}] },
        completionMode: 'Indexed',
        completions: 4,
      },
      [
        'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-5": error parsing succeededIndexes: too large index: "5"',
        'spec.successPolicy.rules[0].succeededCount: Invalid value: 9: must be less than or equal to 4 (the number of specified completions)',
        'spec.successPolicy.rules[0].succeededCount: Invalid value: 9: must be less than or equal to 0 (the number of indexes in the specified succeededIndexes field)',
        'spec.successPolicy.rules[1]: Required value: at least one of succeededCount or succeededIndexes must be specified',
      ],
    ],
    [
      {
        podFailurePolicy: {
          rules: [
            { action: 'x' },
            {
              action: 'FailJob',
              onExitCodes: { operator: 'In', values: [0, 2, 1] },
              onPodConditions: [],
            },
            { action: 'Count', onExitCodes: { containerName: 'z', operator: 'y', values: [] } },
          ],
        },
      },
      [
        'spec.podFailurePolicy.rules[0].action: Unsupported value: "x": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
        'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
        'spec.podFailurePolicy.rules[1].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator',
        'spec.podFailurePolicy.rules[1].onExitCodes.values: Invalid value: [0,2,1]: must be ordered',
        'spec.podFailurePolicy.rules[2].onExitCodes.operator: Unsupported value: "y": supported values: "In", "NotIn"',
        'spec.podFailurePolicy.rules[2].onExitCodes.containerName: Invalid value: "z": must be one of the container or initContainer names in the pod template',
        'spec.podFailurePolicy.rules[2].onExitCodes.values: Invalid value: []: at least one value is required',
      ],
    ],
    [
      {
        podFailurePolicy: {
          rules: [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget' }] }],
        },
        podReplacementPolicy: 'TerminatingOrFailed',
      },
      [
        'spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed"',
      ],
    ],
    [
      { managedBy: 'Not Valid!' },
      [
        'spec.managedBy: Invalid value: "Not Valid!": must be a domain-prefixed path (such as "acme.io/foo")',
      ],
    ],
    [
      {
        parallelism: -1,
        completions: -1,
        backoffLimit: -1,
        activeDeadlineSeconds: -1,
        ttlSecondsAfterFinished: -1,
      },
      [
        'spec.parallelism: Invalid value: -1: must be greater than or equal to 0',
        'spec.completions: Invalid value: -1: must be greater than or equal to 0',
        'spec.activeDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
        'spec.backoffLimit: Invalid value: -1: must be greater than or equal to 0',
        'spec.ttlSecondsAfterFinished: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
  ]
  for (const [rest, expected] of cases)
    assert.deepEqual(createErrors(JOB, job(rest)), expected, JSON.stringify(rest))
})

test('rules of cron jobs', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [{ schedule: '' }, ['spec.schedule: Required value']],
    [
      { schedule: 'x' },
      ['spec.schedule: Invalid value: "x": expected exactly 5 fields, found 1: [x]'],
    ],
    [
      { schedule: 'TZ=UTC * * * * *' },
      [
        'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      { timeZone: 'Nowhere/Land' },
      ['spec.timeZone: Invalid value: "Nowhere/Land": unknown time zone Nowhere/Land'],
    ],
    [
      { timeZone: 'europe/berlin' },
      ['spec.timeZone: Invalid value: "europe/berlin": unknown time zone europe/berlin'],
    ],
    [
      { timeZone: '' },
      ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
    ],
    [
      { concurrencyPolicy: 'x' },
      [
        'spec.concurrencyPolicy: Unsupported value: "x": supported values: "Allow", "Forbid", "Replace"',
      ],
    ],
    [{ concurrencyPolicy: '' }, []],
    [
      { startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 },
      [
        'spec.startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0',
        'spec.successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
        'spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
      ],
    ],
    [
      {
        jobTemplate: {
          spec: {
            template: {
              spec: { containers: [{ name: 'c', image: 'nginx:1.27' }], restartPolicy: 'Never' },
            },
            selector: { matchLabels: { a: 'b' } },
          },
        },
      },
      [
        'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
      ],
    ],
    [
      {
        jobTemplate: {
          spec: {
            template: {
              spec: { containers: [{ name: 'c', image: 'nginx:1.27' }], restartPolicy: 'Never' },
            },
            manualSelector: true,
          },
        },
      },
      [
        'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
      ],
    ],
  ]
  for (const [rest, expected] of cases)
    assert.deepEqual(createErrors(CRON_JOB, cronJob(rest)), expected, JSON.stringify(rest))
})

test("rules of a job's status", () => {
  const failed = {
    startTime: '2024-01-01T00:00:00Z',
    conditions: [
      { type: 'FailureTarget', status: 'True' },
      { type: 'Failed', status: 'True' },
    ],
  }
  const noneFailed = { succeeded: ['a'] }
  rememberEmpty(noneFailed, 'failed', [])
  const cases: readonly (readonly [Draft, Draft, readonly string[], Draft?])[] = [
    [
      {},
      { active: -1, succeeded: -1, failed: -1 },
      [
        'status.active: Invalid value: -1: must be greater than or equal to 0',
        'status.succeeded: Invalid value: -1: must be greater than or equal to 0',
        'status.failed: Invalid value: -1: must be greater than or equal to 0',
        'status.failed: Invalid value: -1: cannot decrease the failed counter',
        'status.succeeded: Invalid value: -1: cannot decrease the succeeded counter',
      ],
    ],
    [
      {},
      { conditions: [{ type: 'Complete', status: 'True' }] },
      [
        'status.completionTime: Required value: completionTime is required for Complete jobs',
        'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
        'status.startTime: Required value: startTime is required for finished job',
      ],
    ],
    [
      {},
      { completionTime: '2024-01-01T00:00:00Z' },
      [
        'status.completionTime: Invalid value: "2024-01-01T00:00:00Z": cannot set completionTime when there is no Complete=True condition',
      ],
    ],
    [
      { startTime: '2024-01-01T00:00:00Z' },
      { startTime: '2024-01-02T00:00:00Z' },
      [
        'status.startTime: Invalid value: "2024-01-02T00:00:00Z": field is immutable for unsuspended job once set',
      ],
    ],
    [
      {},
      {
        conditions: [
          { type: 'Complete', status: 'True' },
          { type: 'Failed', status: 'True' },
        ],
        startTime: '2024-01-01T00:00:00Z',
        completionTime: '2024-01-01T00:00:00Z',
      },
      [
        'status.conditions: Invalid value: cannot set Complete=True and Failed=true conditions',
        'status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
        'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      ],
    ],
    [
      { conditions: [{ type: 'Failed', status: 'True' }] },
      {},
      ['status.conditions: Invalid value: cannot disable the terminal Failed=True condition'],
    ],
    [
      { succeeded: 2 },
      { succeeded: 1 },
      ['status.succeeded: Invalid value: 1: cannot decrease the succeeded counter'],
    ],
    [{ succeeded: 2 }, { succeeded: 1 }, [], { completionMode: 'Indexed' }],
    [
      { succeeded: 2 },
      { succeeded: 1 },
      ['status.succeeded: Invalid value: 1: cannot decrease the succeeded counter'],
      { completionMode: 'Indexed', parallelism: 2 },
    ],
    [
      {},
      { uncountedTerminatedPods: { succeeded: ['a', 'a'], failed: [''] } },
      [
        'status.uncountedTerminatedPods.succeeded[1]: Duplicate value: "a"',
        'status.uncountedTerminatedPods.failed[0]: Invalid value: "": must not be empty',
      ],
    ],
    [
      {},
      { ...failed, uncountedTerminatedPods: { succeeded: ['a'] } },
      [
        'status.uncountedTerminatedPods: Invalid value: {"Succeeded":["a"],"Failed":null}: must be empty for finished job',
      ],
    ],
    [
      {},
      { ...failed, uncountedTerminatedPods: noneFailed },
      [
        'status.uncountedTerminatedPods: Invalid value: {"Succeeded":["a"],"Failed":[]}: must be empty for finished job',
      ],
    ],
  ]
  const spec = {
    ...job().spec,
    completions: 3,
    parallelism: 3,
    completionMode: 'NonIndexed',
    backoffLimit: 6,
  }
  for (const [before, after, expected, rest] of cases) {
    const errors = new FieldErrors()
    rules.status!.validateUpdate!(
      { ...job(), spec: { ...spec, ...rest }, status: after },
      { ...job(), spec: { ...spec, ...rest }, status: before },
      errors,
      context,
    )
    assert.deepEqual(
      errors.list.map(({ field, message }) => `${field}: ${message}`),
      expected,
      JSON.stringify(after),
    )
  }
})

test('a suspended Job that never began is over only when it has nothing to do', () => {
  const required = ['status.startTime: startTime is required for finished job']
  const end = (conditions: readonly [string, string], rest: Draft): readonly string[] => {
    const errors = new FieldErrors()
    const object = { ...job(), spec: { ...job().spec, suspend: true, parallelism: 1, ...rest } }
    const status = {
      conditions: conditions.map((type) => ({ type, status: 'True' })),
      ...(conditions[1] === 'Complete' && { completionTime: '2024-01-01T00:00:00Z' }),
    }
    rules.status!.validateUpdate!({ ...object, status }, object, errors, context)
    return errors.list.map(({ field, message }) => `${field}: ${message.replace(/^.*: /, '')}`)
  }
  for (const conditions of [
    ['SuccessCriteriaMet', 'Complete'],
    ['FailureTarget', 'Failed'],
  ] as const) {
    assert.deepEqual(end(conditions, { completions: 1 }), required)
    assert.deepEqual(end(conditions, {}), required)
    assert.deepEqual(end(conditions, { completions: 0 }), [])
  }
})
