import assert from 'node:assert/strict'
import { test } from 'node:test'
import { POD_GROUPS } from '@gyropilot/api'
import type {
  Job,
  JobSpec,
  JobStatus,
  KubernetesObject,
  Pod,
  PodGroup,
  Workload,
} from '@gyropilot/api'
import { PrometheusRegistry, silentLogger } from '@gyropilot/foundation'
import type { ControllerContext } from '@gyropilot/runtime'
import { drive, fakeInformers, testClock } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../../configuration.ts'
import type { ControllersConfiguration } from '../../configuration.ts'
import { indexedJob, jobPod, statusesOf, syncOf } from '../fixtures.ts'
import type { JobOptions } from '../fixtures.ts'
import { WORKLOADS, podGroupsByWorkload, workloadsByJob } from './gang-objects.ts'
import { schedulingGroup } from './gang-scheduling.ts'
import type { ObservedGang } from './gang-objects.ts'
import { jobLogic } from '../index.ts'

const NONE = gangOf([], [])
// As kube-controller-manager 1.36.2 named them for a Job `gang` with this uid.
const UID = '107a66be-36b7-45e9-b598-2b1c64e2c0a0'
const WORKLOAD = 'gang-cd874d467'
const POD_GROUP = 'gang-cd874d467-gang-pgt-0-6b45b9d4c8'
const OF_JOB = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  name: 'gang',
  uid: UID,
  controller: true,
  blockOwnerDeletion: true,
}

function gangOf(workloads: readonly Workload[], podGroups: readonly PodGroup[]): ObservedGang {
  return { workloads, podGroupsOf: () => podGroups }
}

function gangJob(given: JobOptions = {}): Job {
  return indexedJob({
    status: {},
    ...given,
    metadata: { name: 'gang', uid: UID, ...given.metadata },
  })
}

function workload(given: Partial<Workload> = {}): Workload {
  return {
    apiVersion: 'scheduling.k8s.io/v1alpha2',
    kind: 'Workload',
    metadata: { name: 'own', namespace: 'ns', uid: 'own-uid', ownerReferences: [OF_JOB] },
    spec: {
      controllerRef: { apiGroup: 'batch', kind: 'Job', name: 'gang' },
      podGroupTemplates: [{ name: 'mine', schedulingPolicy: { gang: { minCount: 1 } } }],
    },
    ...given,
  }
}

function podGroup(given: Partial<KubernetesObject['metadata']> = {}): PodGroup {
  return {
    metadata: { name: 'own-mine', namespace: 'ns', ownerReferences: [OF_JOB], ...given },
    spec: {
      podGroupTemplateRef: { workload: { workloadName: 'own', podGroupTemplateName: 'mine' } },
      schedulingPolicy: { gang: { minCount: 1 } },
    },
  }
}

interface Result {
  readonly made: readonly KubernetesObject[]
  readonly groups: readonly (string | undefined)[]
}

/** What was made beside pods, and the group of each pod. */
function resultOf(
  observed: Job,
  gang: ObservedGang | undefined,
  pods: readonly Pod[] = [],
): Result {
  const { writes } = syncOf(observed, pods, gang === undefined ? {} : { gang })
  const created = writes.flatMap((write) => (write.verb === 'create' ? [write] : []))
  const isPod = ({ type }: (typeof created)[number]): boolean => type.resource === 'pods'
  return {
    made: created.filter((write) => !isPod(write)).map(({ object }) => object),
    groups: created
      .filter(isPod)
      .map(({ object }) => (object as Pod).spec?.schedulingGroup?.podGroupName),
  }
}

test('before the first pod a Workload and its PodGroup are made, and pods name the group', () => {
  const { made, groups } = resultOf(gangJob(), NONE)
  const gang = { schedulingPolicy: { gang: { minCount: 3 } } }
  assert.deepEqual(made, [
    {
      apiVersion: 'scheduling.k8s.io/v1alpha2',
      kind: 'Workload',
      metadata: { name: WORKLOAD, namespace: 'ns', ownerReferences: [OF_JOB] },
      spec: {
        controllerRef: { apiGroup: 'batch', kind: 'Job', name: 'gang' },
        podGroupTemplates: [{ name: 'gang-pgt-0', ...gang }],
      },
    },
    {
      apiVersion: 'scheduling.k8s.io/v1alpha2',
      kind: 'PodGroup',
      metadata: {
        name: POD_GROUP,
        namespace: 'ns',
        ownerReferences: [
          OF_JOB,
          {
            apiVersion: 'scheduling.k8s.io/v1alpha2',
            kind: 'Workload',
            name: WORKLOAD,
            // The outcome of a create in a test has no uid.
            uid: '',
          },
        ],
      },
      spec: {
        podGroupTemplateRef: {
          workload: { workloadName: WORKLOAD, podGroupTemplateName: 'gang-pgt-0' },
        },
        ...gang,
      },
    },
  ])
  assert.deepEqual(groups, [POD_GROUP, POD_GROUP, POD_GROUP])
})

test('an event tells of the Workload, before those of the pods', () => {
  const [event, next] = syncOf(gangJob(), [], { gang: NONE }).events
  assert.deepEqual(
    [event?.type, event?.reason, event?.message, next?.reason],
    ['Normal', 'WorkloadCreated', `Created Workload ${WORKLOAD} for Job gang`, 'SuccessfulCreate'],
  )
})

test('a suspended Job gets both before it runs', () => {
  const { made, groups } = resultOf(gangJob({ spec: { suspend: true } }), NONE)
  assert.deepEqual([made.length, groups.length], [2, 0])
})

const notGangs: readonly (readonly [string, Partial<JobSpec>, number])[] = [
  ['a Job without indexes', { completionMode: 'NonIndexed' }, 3],
  ['one index', { completions: 1, parallelism: 1 }, 1],
  ['fewer pods at a time than indexes', { completions: 4 }, 3],
  [
    'a template with a group of its own',
    {
      template: {
        ...indexedJob().spec!.template,
        spec: {
          ...indexedJob().spec!.template.spec!,
          schedulingGroup: { podGroupName: 'theirs' },
        },
      },
    },
    3,
  ],
]
for (const [title, spec, pods] of notGangs)
  test(`${title}: no gang`, () => {
    const { made, groups } = resultOf(gangJob({ spec }), NONE)
    const name = spec.template === undefined ? undefined : 'theirs'
    assert.deepEqual(made, [])
    assert.deepEqual(groups, Array<string | undefined>(pods).fill(name))
  })

test('with the gate off nothing is made', () => {
  assert.deepEqual(resultOf(gangJob(), undefined), {
    made: [],
    groups: [undefined, undefined, undefined],
  })
})

const begun: readonly (readonly [string, JobStatus])[] = [
  ['a start time', { startTime: '2026-11-22T13:00:00Z' }],
  ['successes', { succeeded: 1, completedIndexes: '0' }],
  ['failures', { failed: 1 }],
  [
    'a suspension in its past',
    {
      conditions: [
        { type: 'Suspended', status: 'False', lastTransitionTime: '2026-11-22T13:00:00Z' },
      ],
    },
  ],
]
for (const [title, status] of begun)
  test(`a Job that has ${title} gets no gang any more`, () => {
    const { made, groups } = resultOf(gangJob({ status }), NONE)
    assert.deepEqual(made, [])
    assert.ok(groups.length > 0 && groups.every((name) => name === undefined))
  })

test('a Job that has a pod gets no gang any more, and one with other signs of life does', () => {
  assert.deepEqual(resultOf(gangJob(), NONE, [ownPod()]), {
    made: [],
    groups: [undefined, undefined],
  })
  const conditions = [
    { type: 'Other', status: 'True', lastTransitionTime: '2026-11-22T13:00:00Z' },
  ] as const
  const status = { active: 1, ready: 0, terminating: 0, uncountedTerminatedPods: {}, conditions }
  assert.equal(resultOf(gangJob({ status }), NONE).made.length, 2)
})

function ownPod(): Pod {
  return jobPod('p0', { index: 0, metadata: { ownerReferences: [OF_JOB] } })
}

test('a Job that is being deleted gets no gang', () => {
  const metadata = { deletionTimestamp: '2026-11-22T13:00:00Z', finalizers: ['orphan'] }
  assert.deepEqual(resultOf(gangJob({ metadata }), NONE), { made: [], groups: [] })
})

test('the group that is there already is used, by a started Job too', () => {
  const gang = gangOf([workload()], [podGroup()])
  const started = gangJob({ status: { startTime: '2026-11-22T13:00:00Z' } })
  assert.deepEqual(resultOf(gangJob(), gang), {
    made: [],
    groups: ['own-mine', 'own-mine', 'own-mine'],
  })
  assert.deepEqual(resultOf(started, gang, [ownPod()]).groups, ['own-mine', 'own-mine'])
})

test('what is left of a half-done beginning is completed: a PodGroup after the template of the Workload', () => {
  const { made, groups } = resultOf(gangJob(), gangOf([workload()], []))
  const [group] = made
  assert.deepEqual([group?.kind, group?.metadata?.name], ['PodGroup', groups[0]])
  assert.deepEqual((group as PodGroup).spec, {
    podGroupTemplateRef: { workload: { workloadName: 'own', podGroupTemplateName: 'mine' } },
    schedulingPolicy: { gang: { minCount: 1 } },
  })
  const started = gangJob({ status: { startTime: '2026-11-22T13:00:00Z' } })
  assert.deepEqual(resultOf(started, gangOf([workload()], [])), {
    made: [],
    groups: [undefined, undefined, undefined],
  })
})

test('the name of a PodGroup is its Workload, its template and a hash of both', () => {
  const d1 = workload({ metadata: { ...workload().metadata, name: 'd1' } })
  const [group] = resultOf(gangJob(), gangOf([d1], [])).made
  assert.equal(group?.metadata?.name, 'd1-mine-5f5f5f78b5')
})

test('the Workload of a namesake that is gone is none of this Job', () => {
  const before = { ...OF_JOB, uid: 'an-earlier-uid' }
  const theirs = workload({ metadata: { ...workload().metadata, ownerReferences: [before] } })
  assert.equal(resultOf(gangJob(), gangOf([theirs], [podGroup()])).made.length, 2)
  const both = gangOf([theirs, workload()], [podGroup()])
  assert.deepEqual(resultOf(gangJob(), both), {
    made: [],
    groups: ['own-mine', 'own-mine', 'own-mine'],
  })
  for (const other of [
    { ...before, kind: 'CronJob' },
    { ...before, name: 'other' },
  ]) {
    const kept = workload({ metadata: { ...workload().metadata, ownerReferences: [other] } })
    assert.deepEqual(resultOf(gangJob(), gangOf([kept], [podGroup()])).made, [])
  }
})

const onesOwn = { ...OF_JOB, controller: false }
const fallbacks: readonly (readonly [string, ObservedGang])[] = [
  ['two Workloads', gangOf([workload(), workload()], [podGroup()])],
  ['two PodGroups', gangOf([workload()], [podGroup(), podGroup()])],
  [
    'a Workload that the Job does not control',
    gangOf(
      [workload({ metadata: { ...workload().metadata, ownerReferences: [onesOwn] } })],
      [podGroup()],
    ),
  ],
  [
    'a PodGroup that the Job does not control',
    gangOf([workload()], [podGroup({ ownerReferences: [onesOwn] })]),
  ],
  ['a Workload without templates', gangOf([workload({ spec: { podGroupTemplates: [] } })], [])],
  [
    'a Workload with two templates',
    gangOf(
      [
        workload({
          spec: {
            podGroupTemplates: [
              { name: 'a', schedulingPolicy: {} },
              { name: 'b', schedulingPolicy: {} },
            ],
          },
        }),
      ],
      [],
    ),
  ],
]
for (const [title, gang] of fallbacks)
  test(`${title}: pods are scheduled one by one`, () => {
    assert.deepEqual(resultOf(gangJob(), gang), {
      made: [],
      groups: [undefined, undefined, undefined],
    })
  })

for (const resource of ['workloads', 'podgroups'])
  test(`without its ${resource} no pod is made and no status written, and the sync is tried again`, () => {
    const error = new Error('exceeded quota')
    const synced = syncOf(gangJob(), [], {
      gang: NONE,
      onWrite: ({ type }) =>
        type.resource === resource ? { ok: false, error, attempted: true } : undefined,
    })
    assert.equal(synced.result?.error, error)
    assert.deepEqual(statusesOf(synced), [])
    assert.ok(synced.writes.every(({ type }) => type.resource !== 'pods'))
    assert.equal(synced.events.length, resource === 'workloads' ? 0 : 1)
  })

function wired(featureGates: Readonly<Record<string, boolean>>) {
  const informers = fakeInformers([gangJob()])
  const context = {
    informers,
    clock: testClock(),
    metrics: new PrometheusRegistry(),
    logger: silentLogger,
    configuration: { ...defaultControllersConfiguration, featureGates },
  } as unknown as ControllerContext<ControllersConfiguration>
  return { informers, logic: jobLogic(context) }
}

test('with the gate, Workloads are found by the Job in their spec and PodGroups by their Workload', () => {
  const { informers, logic } = wired({ WorkloadWithJob: true })
  const others = [
    workload({ metadata: { name: 'a', namespace: 'ns' }, spec: { podGroupTemplates: [] } }),
    workload({
      metadata: { name: 'b', namespace: 'ns' },
      spec: { controllerRef: { kind: 'Job', name: 'gang' }, podGroupTemplates: [] },
    }),
    workload({
      metadata: { name: 'c', namespace: 'ns' },
      spec: {
        controllerRef: { apiGroup: 'batch', kind: 'CronJob', name: 'gang' },
        podGroupTemplates: [],
      },
    }),
    workload({ metadata: { name: 'd', namespace: 'other' } }),
  ]
  for (const other of others) informers.apply(WORKLOADS, other)
  assert.deepEqual(logic.observe('ns/gang')?.gang?.workloads, [])
  informers.apply(WORKLOADS, workload())
  informers.apply(POD_GROUPS, {
    metadata: { name: 'x', namespace: 'ns' },
    spec: { schedulingPolicy: { basic: {} } },
  })
  informers.apply(POD_GROUPS, podGroup())
  const { gang } = logic.observe('ns/gang')!
  assert.deepEqual(
    [gang?.workloads.map(nameOf), gang?.podGroupsOf(workload()).map(nameOf)],
    [['own'], ['own-mine']],
  )
  assert.deepEqual(
    logic.staleGuard?.informers.map(({ type }) => type.resource),
    ['pods', 'jobs', 'workloads', 'podgroups'],
  )
  assert.equal(logic.alsoAwait?.length, 2)
})

const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? ''

test('without the gate no informer asks for Workloads', () => {
  const { logic } = wired({})
  assert.equal(logic.observe('ns/gang')?.gang, undefined)
  assert.deepEqual(logic.alsoAwait, [])
  const { writes } = drive(logic.reconcile(logic.observe('ns/gang')!))
  assert.ok(writes.every(({ type }) => type.group !== 'scheduling.k8s.io'))
})

test('objects that say nothing belong to nobody, and make no gang', () => {
  const nothing = {}
  const halves = [{ podGroupTemplateRef: {} }, { podGroupTemplateRef: { workload: {} } }]
  for (const spec of [undefined, nothing]) {
    assert.deepEqual(workloadsByJob({ spec } as Workload), [])
    assert.deepEqual(podGroupsByWorkload({ spec } as PodGroup), [])
  }
  for (const spec of halves) assert.deepEqual(podGroupsByWorkload({ spec } as PodGroup), [])
  const indexed = { completionMode: 'Indexed', completions: 2, parallelism: 2 } as const
  const jobs: readonly Job[] = [
    {},
    { spec: {} as JobSpec },
    { spec: { ...indexed, parallelism: 1, template: {} } },
    { spec: { ...indexed, parallelism: undefined, template: {} } as JobSpec },
  ]
  for (const subject of jobs)
    assert.deepEqual(drive(schedulingGroup(subject, [], NONE)).result, {}, JSON.stringify(subject))
  for (const template of [{}, undefined]) {
    const { writes } = drive(schedulingGroup({ spec: { ...indexed, template } } as Job, [], NONE))
    assert.equal(writes.length, 2, 'and neither does a template that says nothing hinder one')
  }
})
