/** The checkers of StatefulSets find what they are there for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newControllerRef, resources } from '@gyropilot/api'
import type { ControllerRevision, Pod, StatefulSet } from '@gyropilot/api'
import { Watchdog, createCluster, endStateRules } from '@gyropilot/cluster'
import type { SimulatedCluster } from '@gyropilot/cluster'

const REST = { quietMs: 60_000, limitMs: 300_000 }
const labels = { app: 'db' }
const template = {
  metadata: { labels },
  spec: { containers: [{ name: 'c', image: 'web:1' }] },
}

function statefulSet(replicas: number): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'default' },
    spec: { serviceName: 'db', replicas, selector: { matchLabels: labels }, template },
  }
}

async function podOf(cluster: SimulatedCluster, set: StatefulSet, name: string): Promise<void> {
  const ownerReferences = [newControllerRef(set, resources.statefulsets)]
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', labels, ownerReferences },
    spec: template.spec,
  }
  await cluster.create(pod)
}

for (const [title, names, expected] of [
  ['pods in their order are fine', ['db-0', 'db-1'], []],
  ['two pods of one ordinal', ['db-0', 'db-00'], ['pod default/db-00 was made beside db-0']],
  [
    'an ordinal that nobody asked for',
    ['db-0', 'db-1', 'db-2'],
    ['pod default/db-2 was made and its ordinal was not asked for'],
  ],
  ['a pod before the one below it', ['db-1'], ['pod 1 of default/db was made without pod 0']],
] as const) {
  test(`never: ${title}`, async () => {
    const cluster = await createCluster({
      seed: 'ordinals',
      nodes: 0,
      controllers: ['serviceaccount-controller'],
    })
    const watchdog = new Watchdog(cluster)
    await cluster.advance(2_000)
    const set = await cluster.create(statefulSet(2))
    for (const name of names) await podOf(cluster, set, name)
    assert.deepEqual(
      watchdog.violations.map(({ message }) => message),
      expected,
    )
  })
}

test('without the statefulset-controller pods are missing', async () => {
  const cluster = await createCluster({
    seed: 'none',
    nodes: 1,
    controllers: ['*', '-statefulset-controller'],
  })
  const watchdog = new Watchdog(cluster)
  await cluster.create(statefulSet(1))
  const violations = await watchdog.judge(REST)
  assert.deepEqual(
    [...new Set(violations.map(({ checker }) => checker))],
    ['the newest spec was acted on', 'StatefulSets have the pods they ask for'],
  )
})

const settled: StatefulSet = {
  ...statefulSet(1),
  metadata: { name: 'db', namespace: 'default', uid: 'db' },
  spec: {
    ...statefulSet(1).spec!,
    revisionHistoryLimit: 0,
    updateStrategy: { type: 'RollingUpdate' },
  },
  status: { replicas: 1, readyReplicas: 1, currentRevision: 'r2', updateRevision: 'r2' },
}
const ownerReferences = [newControllerRef(settled, resources.statefulsets)]
const ready: Pod = {
  metadata: {
    name: 'db-0',
    namespace: 'default',
    ownerReferences,
    labels: {
      'statefulset.kubernetes.io/pod-name': 'db-0',
      'controller-revision-hash': 'r2',
    },
  },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
}
const revision = (name: string, number: number): ControllerRevision => ({
  metadata: { name, namespace: 'default', ownerReferences },
  data: { spec: { template: { ...template, $patch: 'replace' } } },
  revision: number,
})
const labelled = (name: string, value: string): Pod => ({
  ...ready,
  metadata: { ...ready.metadata, labels: { ...ready.metadata!.labels, [name]: value } },
})
const withStatus = (change: object): StatefulSet => ({
  ...settled,
  status: { ...settled.status!, ...change },
})

const worlds: readonly (readonly [string, Partial<World>, readonly RegExp[]])[] = [
  ['nothing', {}, []],
  ['a missing pod', { pods: [] }, [/lacks pod db-0/, /says 1 pods/, /says 1 ready/]],
  [
    'the label of another',
    { pods: [labelled('statefulset.kubernetes.io/pod-name', 'db-1')] },
    [/label of another/],
  ],
  [
    'a revision that is not there',
    { pods: [labelled('controller-revision-hash', 'r9')] },
    [/of revision r9, which is not there/, /was not updated/],
  ],
  [
    'a revision of a former owner, of a pod that a partition leaves',
    {
      set: {
        ...settled,
        spec: {
          ...settled.spec!,
          updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
        },
      },
      pods: [labelled('controller-revision-hash', 'r9')],
    },
    [],
  ],
  ['too long a history', { revisions: [revision('r1', 1), revision('r2', 2)] }, [/keeps 1 old/]],
  [
    'two revisions of one number',
    { revisions: [revision('r1', 2), revision('r2', 2)], limit: 5 },
    [/have one number/],
  ],
  ['another template', { image: 'web:2' }, [/is not its template/]],
  [
    'a rollout that does not end',
    { set: withStatus({ currentRevision: 'r1' }) },
    [/is still at r1/],
  ],
  ['a wrong count', { set: withStatus({ replicas: 3 }) }, [/says 3 pods/]],
]

interface World {
  readonly set: StatefulSet
  readonly pods: readonly Pod[]
  readonly revisions: readonly ControllerRevision[]
  readonly limit: number
  readonly image: string
}

for (const [title, given, expected] of worlds) {
  test(`in the end: ${title}`, () => {
    const { set = settled, pods = [ready], revisions = [revision('r2', 2)] } = given
    const { limit = 0, image = 'web:1' } = given
    const changed = { ...template, spec: { containers: [{ name: 'c', image }] } }
    const spec = { ...set.spec!, revisionHistoryLimit: limit, template: changed }
    const found = new Map<unknown, readonly object[]>([
      [resources.statefulsets, [{ ...set, spec }]],
      [resources.pods, pods],
      [resources.controllerrevisions, revisions],
    ])
    const objects = { all: (type: unknown) => found.get(type) ?? [] }
    const rule = endStateRules['StatefulSets have the pods they ask for']!
    const problems = [...rule(objects as never)]
    assert.equal(problems.length, expected.length, problems.join())
    for (const [index, text] of expected.entries()) assert.match(problems[index]!, text)
  })
}
