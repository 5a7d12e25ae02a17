import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../../registry/kind-rules.ts'
import { createTestServer } from '../../testing/test-server.ts'
import { createErrors, created, podSpec, updateErrors } from '../fixtures.ts'

const JOB = { group: 'batch', version: 'v1', kind: 'Job' }
const CRON_JOB = { group: 'batch', version: 'v1', kind: 'CronJob' }
const job = (rest: Draft = {}, spec: Draft = {}): Draft => ({
  metadata: { name: 'j' },
  spec: { template: { spec: podSpec({}, { restartPolicy: 'Never', ...spec }) }, ...rest },
})

test('defaults of a job, and the selector that the server makes', () => {
  const { spec, status } = created(JOB, job())
  const { template, selector, ...rest } = spec
  assert.deepEqual(rest, {
    completions: 1,
    parallelism: 1,
    backoffLimit: 6,
    completionMode: 'NonIndexed',
    suspend: false,
    podReplacementPolicy: 'TerminatingOrFailed',
    manualSelector: false,
  })
  assert.deepEqual(selector, { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u-1' } })
  assert.deepEqual(template.metadata.labels, {
    'controller-uid': 'u-1',
    'batch.kubernetes.io/controller-uid': 'u-1',
    'batch.kubernetes.io/job-name': 'j',
    'job-name': 'j',
  })
  assert.deepEqual(status, {})
  assert.equal(created(JOB, job({ completions: 3 })).spec.parallelism, 1)
  assert.equal(created(JOB, job({ parallelism: 3 })).spec.completions, undefined)
  assert.equal(created(JOB, job({ backoffLimitPerIndex: 1 })).spec.backoffLimit, 2147483647)
})

test('labels that a job has from its template come with those that the server adds, its own do not', () => {
  const generated = [
    'batch.kubernetes.io/controller-uid',
    'batch.kubernetes.io/job-name',
    'controller-uid',
    'job-name',
  ]
  const labelsOf = (own: Draft | undefined, template: Draft): string[] => {
    const draft = job()
    if (own !== undefined) draft.metadata.labels = own
    draft.spec.template.metadata = { labels: template }
    return Object.keys(created(JOB, draft).metadata.labels ?? {}).toSorted()
  }
  assert.deepEqual(labelsOf(undefined, { a: 'b' }), ['a', ...generated])
  assert.deepEqual(labelsOf({}, { a: 'b' }), ['a', ...generated])
  assert.deepEqual(labelsOf({ a: 'b' }, { a: 'b' }), ['a'])
  assert.deepEqual(labelsOf({ x: 'y' }, { a: 'b' }), ['x'])
})

test('Given a Job with its own selector, then 422; with manualSelector true: accepted and no labels are added.', () => {
  const own = { selector: { matchLabels: { a: 'b' } } }
  assert.match(
    createErrors(JOB, job(own))[0]!,
    /^spec\.selector: Invalid value: .*`selector` not auto-generated$/,
  )
  const manual = job({ ...own, manualSelector: true })
  manual.spec.template.metadata = { labels: { a: 'b' } }
  assert.deepEqual(createErrors(JOB, manual), [])
  assert.deepEqual(created(JOB, manual).spec.template.metadata.labels, { a: 'b' })
})

test('rules of a job', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      job({}, { restartPolicy: 'Always' }),
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      job({ completionMode: 'Indexed', parallelism: 100001, completions: 2 }),
      [
        'spec.parallelism: Invalid value: 100001: must be less than or equal to 100000 when completion mode is Indexed',
      ],
    ],
    [
      job({ backoffLimitPerIndex: 1 }),
      ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode'],
    ],
    [
      job({ podFailurePolicy: { rules: [{ action: 'Ignore' }] } }),
      [
        'spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
      ],
    ],
    [
      job({
        podFailurePolicy: {
          rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [0] } }],
        },
      }),
      [
        'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
        'spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator',
      ],
    ],
    [
      job(
        { podFailurePolicy: { rules: [{ action: 'Ignore', onPodConditions: [{ type: 'A' }] }] } },
        { restartPolicy: 'OnFailure' },
      ),
      [
        'spec.template.spec.restartPolicy: Invalid value: "OnFailure": only "Never" is supported when podFailurePolicy is specified',
      ],
    ],
    [
      job({ managedBy: 'foo' }),
      [
        'spec.managedBy: Invalid value: "foo": must be a domain-prefixed path (such as "acme.io/foo")',
      ],
    ],
  ]
  for (const [object, errors] of cases) assert.deepEqual(createErrors(JOB, object), errors)
})

/** An update as clients send it: what was read, with changes. */
function jobUpdate(before: Draft, change: (spec: Draft) => void): string[] {
  const after = created(JOB, before)
  change(after.spec)
  return updateErrors(JOB, before, { metadata: after.metadata, spec: after.spec })
}

test('what is immutable in a job', () => {
  assert.deepEqual(
    jobUpdate(job(), (spec) => (spec.completions = 3)),
    ['spec.completions: Invalid value: 3: field is immutable'],
  )
  assert.deepEqual(
    jobUpdate(job(), (spec) => (spec.completionMode = 'Indexed')),
    ['spec.completionMode: Invalid value: "Indexed": field is immutable'],
  )
  const indexed = job({ completionMode: 'Indexed', completions: 2, parallelism: 2 })
  assert.deepEqual(
    jobUpdate(indexed, (spec) => Object.assign(spec, { completions: 3, parallelism: 3 })),
    [],
  )
  const mutable = {
    parallelism: 7,
    backoffLimit: 1,
    activeDeadlineSeconds: 5,
    ttlSecondsAfterFinished: 5,
    suspend: true,
  }
  assert.deepEqual(
    jobUpdate(job(), (spec) => Object.assign(spec, mutable)),
    [],
  )
})

test('Given a suspended Job, when nodeSelector of the template changes, then 200; when the image changes: 422.', () => {
  const suspended = job({ suspend: true })
  assert.deepEqual(
    jobUpdate(suspended, (spec) => (spec.template.spec.nodeSelector = { a: 'b' })),
    [],
  )
  const [error] = jobUpdate(suspended, (spec) => (spec.template.spec.containers[0].image = 'other'))
  assert.match(
    error!,
    /^spec\.template\.spec: Invalid value: \{"Volumes":null,.*: field is immutable$/,
  )
  assert.match(
    jobUpdate(job(), (spec) => (spec.template.spec.nodeSelector = { a: 'b' }))[0]!,
    /^spec\.template/,
  )
})

test('Given a suspended Job, then of the affinity of its pods that to nodes changes, and nothing beside it.', () => {
  const terms = (key: string): Draft => ({
    nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }],
  })
  const toNodes = (key: string): Draft => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms(key) },
  })
  const term = (topologyKey: string): Draft => ({ topologyKey, labelSelector: {} })
  const toPods = (key: string): Draft => ({
    podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(key)] },
  })
  const allowed = (before: Draft | undefined, now: Draft | undefined): boolean => {
    const suspended = job({ suspend: true }, { affinity: before })
    const errors = jobUpdate(suspended, (spec) => {
      if (now === undefined) delete spec.template.spec.affinity
      else spec.template.spec.affinity = now
    })
    for (const error of errors) assert.match(error, /^spec\.template\.spec: Invalid value: /)
    return errors.length === 0
  }
  const olds: readonly (Draft | undefined)[] = [
    undefined,
    {},
    toNodes('a'),
    toPods('a'),
    { ...toNodes('a'), ...toPods('a') },
  ]
  const answers = (now: Draft | undefined): boolean[] => olds.map((before) => allowed(before, now))
  assert.deepEqual(answers(undefined), [true, true, true, false, false])
  assert.deepEqual(answers({}), [true, true, true, false, false])
  assert.deepEqual(answers(toNodes('b')), [true, true, true, false, false])
  assert.deepEqual(answers(toPods('a')), [false, false, false, true, true])
  assert.deepEqual(answers({ ...toNodes('b'), ...toPods('a') }), [false, false, false, true, true])
  assert.deepEqual(answers({ podAntiAffinity: {} }), [false, false, false, false, false])
})

const cronJob = (rest: Draft = {}): Draft => ({
  spec: { schedule: '* * * * *', jobTemplate: { spec: job().spec }, ...rest },
})

test('defaults of a cron job', () => {
  const { jobTemplate, ...rest } = created(CRON_JOB, cronJob()).spec
  assert.deepEqual(rest, {
    schedule: '* * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  })
  assert.equal(jobTemplate.spec.completions, undefined)
})

test('the failure policy of a job, also of those to be: a condition is True unless it says otherwise, no rules are null', async () => {
  const { request } = await createTestServer()
  const batch = '/apis/batch/v1/namespaces/default'
  const onPodConditions = [{ type: 'DisruptionTarget' }]
  for (const [sent, written] of [
    [
      [{ action: 'Ignore', onPodConditions }],
      [{ action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
    ],
    [[], null],
  ]) {
    const { spec } = job({ podFailurePolicy: { rules: sent } })
    const metadata = { generateName: 'j' }
    const one = await request('POST', `${batch}/jobs`, { metadata, spec })
    assert.deepEqual(one.value.spec.podFailurePolicy, { rules: written })
    const cron = { schedule: '* * * * *', jobTemplate: { spec } }
    const many = await request('POST', `${batch}/cronjobs`, { metadata, spec: cron })
    assert.deepEqual(many.value.spec.jobTemplate.spec.podFailurePolicy, { rules: written })
  }
})

test('Given CronJob name of 53 characters, then 422.', () => {
  const name = 'a'.repeat(53)
  assert.deepEqual(createErrors(CRON_JOB, { ...cronJob(), metadata: { name } }), [
    `metadata.name: Invalid value: "${name}": must be no more than 52 characters`,
  ])
  assert.deepEqual(createErrors(CRON_JOB, { ...cronJob(), metadata: { name: name.slice(1) } }), [])
})

test('rules of a cron job', () => {
  const cases: readonly (readonly [Draft, readonly string[]])[] = [
    [
      { schedule: 'foo' },
      ['spec.schedule: Invalid value: "foo": expected exactly 5 fields, found 1: [foo]'],
    ],
    [
      { schedule: 'TZ=UTC * * * * *' },
      [
        'spec.schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      { timeZone: 'Foo/Bar' },
      ['spec.timeZone: Invalid value: "Foo/Bar": unknown time zone Foo/Bar'],
    ],
    [
      { timeZone: 'local' },
      [
        'spec.timeZone: Invalid value: "local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      ],
    ],
    [{ timeZone: 'Europe/Berlin' }, []],
    [
      { concurrencyPolicy: 'Foo' },
      [
        'spec.concurrencyPolicy: Unsupported value: "Foo": supported values: "Allow", "Forbid", "Replace"',
      ],
    ],
  ]
  for (const [rest, errors] of cases)
    assert.deepEqual(createErrors(CRON_JOB, cronJob(rest)), errors)
})

test('the name of who manages a job is measured in bytes', () => {
  const errors = (letters: number): string =>
    createErrors(JOB, job({ managedBy: `a.b/${'é'.repeat(letters)}` })).join()
  assert.match(errors(30), /spec\.managedBy: Too long: may not be more than 63 bytes/)
  assert.doesNotMatch(errors(29), /Too long/)
})
