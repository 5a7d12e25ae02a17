/** What upstream's end-to-end and integration tests say of Deployments, on a whole cluster. */
import assert from 'node:assert/strict'
import { findCondition, isControlledBy, resources } from '@gyropilot/api'
import type { Deployment, Pod, ReplicaSet } from '@gyropilot/api'
import { deployment, replicaSet } from './objects.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const REVISION = 'deployment.kubernetes.io/revision'
const NEVER_READY = { 'sim.kubelet/ready-after': '100000s' }
const SLOW_TO_END = {
  'sim.kubelet/behavior': JSON.stringify({
    containers: { '*': { terminate: { duration: '20s' } } },
  }),
}
const WITHIN_MS = 120_000

const deployments = (world: World) => world.of(resources.deployments)

async function web(world: World): Promise<Deployment> {
  const found = await world.find(resources.deployments, 'web')
  assert.ok(found)
  return found
}

/** A ReplicaSet that nobody controls, and that the Deployment selects. */
function former(given: { replicas: number; annotations?: Record<string, string> }): ReplicaSet {
  const labels = { app: 'web', pod: 'old' }
  const base = replicaSet('controller', { labels, replicas: given.replicas, image: 'web:1' })
  return { ...base, metadata: { ...base.metadata, labels, annotations: given.annotations } }
}

async function replicaSets(world: World): Promise<readonly ReplicaSet[]> {
  return await world.list(resources.replicasets)
}

/** Sizes by image. */
async function sizes(world: World): Promise<Record<string, number>> {
  const all = await replicaSets(world)
  return Object.fromEntries(all.map(({ spec }) => [imageOf(spec?.template), spec?.replicas ?? -1]))
}

function imageOf(template: { readonly spec?: Pod['spec'] } | undefined): string {
  return template?.spec?.containers[0]?.image ?? ''
}

async function livePods(world: World): Promise<readonly Pod[]> {
  const all = await world.list(resources.pods)
  return all.filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
}

async function complete(world: World): Promise<Deployment> {
  return await world.until('the rollout is complete', WITHIN_MS, async () => {
    const found = await web(world)
    const { spec, status, metadata } = found
    const size = spec?.replicas
    const isComplete =
      status?.observedGeneration === metadata?.generation &&
      status?.replicas === size &&
      status?.updatedReplicas === size &&
      status?.availableReplicas === size
    return isComplete ? found : undefined
  })
}

/** Waits until the condition has the reason. */
async function reason(world: World, type: string, wanted: string, withinMs = WITHIN_MS) {
  return await world.until(`${type} is ${wanted}`, withinMs, async () => {
    const condition = findCondition((await web(world)).status?.conditions, type)
    return condition?.reason === wanted ? condition : undefined
  })
}

async function setImage(world: World, image: string, annotations?: object): Promise<void> {
  await deployments(world).patch('web', {
    type: 'strategic',
    value: {
      spec: {
        template: {
          ...(annotations === undefined ? {} : { metadata: { annotations } }),
          spec: { containers: [{ name: 'c', image }] },
        },
      },
    },
  })
}

async function patch(world: World, value: object): Promise<void> {
  await deployments(world).patch('web', { type: 'merge', value })
}

async function eventsOf(world: World, name: string): Promise<readonly string[]> {
  await world.advance(2_000)
  const all = await world.list(resources.events)
  return all
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ type, reason: why, message }) => `${type} ${why} ${message}`)
}

scenario(
  'an adopted ReplicaSet keeps its pods until it is replaced, and the next revision is counted from its own, to the last digit',
  async (world) => {
    await world
      .of(resources.replicasets)
      .create(former({ replicas: 2, annotations: { [REVISION]: '3546343826724305832' } }))
    await world.until('two pods', WITHIN_MS, async () =>
      (await livePods(world)).length === 2 ? true : undefined,
    )
    await deployments(world).create(deployment('web', { replicas: 2, image: 'web:2' }))
    const done = await complete(world)
    assert.equal(done.metadata?.annotations?.[REVISION], '3546343826724305833')
    const adopted = await world.find(resources.replicasets, 'controller')
    assert.ok(adopted && isControlledBy(adopted, done))
    assert.equal(adopted.spec?.replicas, 0)
    assert.equal((await replicaSets(world)).length, 2)
  },
)

scenario(
  'the annotations of a Deployment are on its ReplicaSet, but for the last applied configuration',
  async (world) => {
    const base = deployment('web', { replicas: 1 })
    const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
    const annotations = { test: 'should-copy-to-replica-set', [lastApplied]: 'should-not' }
    await deployments(world).create({ ...base, metadata: { ...base.metadata, annotations } })
    const done = await complete(world)
    const [only] = await replicaSets(world)
    assert.equal(only?.metadata?.annotations?.['test'], 'should-copy-to-replica-set')
    assert.equal(only?.metadata?.annotations?.[lastApplied], undefined)
    assert.equal(only?.metadata?.annotations?.[REVISION], '1')
    assert.equal(done.metadata?.annotations?.[REVISION], '1')
    const hash = only?.metadata?.labels?.['pod-template-hash']
    assert.ok(hash)
    assert.equal(only?.spec?.selector?.matchLabels?.['pod-template-hash'], hash)
    assert.equal((await livePods(world))[0]?.metadata?.labels?.['pod-template-hash'], hash)
    assert.deepEqual(await eventsOf(world, 'web'), [
      `Normal ScalingReplicaSet Scaled up replica set ${only?.metadata?.name} from 0 to 1`,
    ])
  },
)

scenario(
  'with a history limit of 0 an adopted ReplicaSet is deleted after the rollout, and one pod was made for it',
  async (world) => {
    await world.of(resources.replicasets).create(former({ replicas: 1 }))
    await world.until('a pod runs', WITHIN_MS, async () =>
      (await livePods(world))[0]?.status?.phase === 'Running' ? true : undefined,
    )
    const limit = { revisionHistoryLimit: 0 }
    const base = deployment('web', { replicas: 1, image: 'web:2' })
    await deployments(world).create({ ...base, spec: { ...base.spec!, ...limit } })
    await complete(world)
    await world.until('the old one is deleted', WITHIN_MS, async () =>
      (await replicaSets(world)).length === 1 ? true : undefined,
    )
    const created = (await world.list(resources.events)).filter(
      ({ reason: why }) => why === 'SuccessfulCreate',
    )
    assert.equal(created.length, 2)
  },
)

scenario(
  'Given a quick second and third template, then the final one wins and middle RSs go to 0',
  async (world) => {
    await deployments(world).create(deployment('web', { replicas: 4, image: 'web:1' }))
    await complete(world)
    await setImage(world, 'web:2', NEVER_READY)
    await world.advance(3_000)
    assert.ok((await sizes(world))['web:2']! > 0)
    assert.ok((await sizes(world))['web:1']! > 0)
    await setImage(world, 'web:3', { 'sim.kubelet/ready-after': null })
    const done = await complete(world)
    assert.deepEqual(await sizes(world), { 'web:1': 0, 'web:2': 0, 'web:3': 4 })
    assert.equal(done.metadata?.annotations?.[REVISION], '3')
  },
)

scenario(
  'a template that returns takes its old ReplicaSet again, with a new revision and the old one in its history',
  async (world) => {
    await deployments(world).create(deployment('web', { replicas: 2, image: 'web:1' }))
    await complete(world)
    const [first] = await replicaSets(world)
    await setImage(world, 'web:2')
    await complete(world)
    await setImage(world, 'web:1')
    const done = await complete(world)
    assert.equal(done.metadata?.annotations?.[REVISION], '3')
    assert.equal((await replicaSets(world)).length, 2)
    const again = await world.find(resources.replicasets, first?.metadata?.name ?? '')
    assert.equal(again?.metadata?.uid, first?.metadata?.uid)
    assert.equal(again?.metadata?.annotations?.[REVISION], '3')
    assert.equal(again?.metadata?.annotations?.['deployment.kubernetes.io/revision-history'], '1')
  },
)

scenario(
  'a stuck rollout that is resized grows and shrinks in proportion, with the sizes on its ReplicaSets',
  async (world) => {
    const strategy = {
      type: 'RollingUpdate',
      rollingUpdate: { maxSurge: 3, maxUnavailable: 2 },
    } as const
    const base = deployment('web', { replicas: 10, image: 'web:1' })
    await deployments(world).create({ ...base, spec: { ...base.spec!, strategy } })
    await complete(world)
    await setImage(world, 'web:2', NEVER_READY)
    await world.until('8 old and 5 new', WITHIN_MS, async () => {
      const { 'web:1': old, 'web:2': fresh } = await sizes(world)
      return old === 8 && fresh === 5 ? true : undefined
    })
    await patch(world, { spec: { replicas: 30 } })
    await world.until('20 old and 13 new', WITHIN_MS, async () => {
      const { 'web:1': old, 'web:2': fresh } = await sizes(world)
      return old === 20 && fresh === 13 ? true : undefined
    })
    for (const { metadata } of await replicaSets(world)) {
      assert.equal(metadata?.annotations?.['deployment.kubernetes.io/desired-replicas'], '30')
      assert.equal(metadata?.annotations?.['deployment.kubernetes.io/max-replicas'], '33')
    }
  },
  { nodes: 3 },
)

scenario(
  'Given an edited RS template, then collisionCount 1 and revision 2 on a new RS',
  async (world) => {
    await deployments(world).create(deployment('web', { replicas: 1 }))
    await complete(world)
    const [first] = await replicaSets(world)
    await world.of(resources.replicasets).patch(first!.metadata!.name!, {
      type: 'json',
      operations: [
        { op: 'add', path: '/spec/template/metadata/annotations', value: { edited: 'x' } },
      ],
    })
    await world.until('revision 2', WITHIN_MS, async () =>
      (await web(world)).metadata?.annotations?.[REVISION] === '2' ? true : undefined,
    )
    const done = await complete(world)
    assert.equal(done.status?.collisionCount, 1)
    assert.equal((await replicaSets(world)).length, 2)
    assert.equal(
      (await world.find(resources.replicasets, first!.metadata!.name!))?.spec?.replicas,
      0,
    )
  },
)

scenario(
  'Given a paused new deployment, then no RS; paused scale 1→10 resizes the RS; resumed, it rolls out',
  async (world) => {
    const base = deployment('web', { replicas: 1 })
    await deployments(world).create({ ...base, spec: { ...base.spec!, paused: true } })
    const paused = await reason(world, 'Progressing', 'DeploymentPaused')
    assert.deepEqual([paused.status, paused.message], ['Unknown', 'Deployment is paused'])
    await world.until('it was observed', WITHIN_MS, async () =>
      (await web(world)).status?.observedGeneration === 1 ? true : undefined,
    )
    assert.deepEqual(await replicaSets(world), [])
    await patch(world, { spec: { paused: false } })
    await complete(world)
    await reason(world, 'Progressing', 'NewReplicaSetAvailable')
    await patch(world, { spec: { paused: true } })
    await reason(world, 'Progressing', 'DeploymentPaused')
    await patch(world, { spec: { replicas: 10 } })
    await complete(world)
    const [only] = await replicaSets(world)
    const { annotations } = only?.metadata ?? {}
    assert.equal(annotations?.['deployment.kubernetes.io/desired-replicas'], '10')
    await setImage(world, 'web:2')
    await world.advance(20_000)
    assert.equal((await replicaSets(world)).length, 1)
    await patch(world, { spec: { paused: false } })
    await world.until('a second ReplicaSet', WITHIN_MS, async () =>
      (await replicaSets(world)).length === 2 ? true : undefined,
    )
    await complete(world)
  },
)

scenario(
  'a ReplicaSet whose owner reference no longer says controller is adopted again, and keeps the reference',
  async (world) => {
    await deployments(world).create(deployment('web', { replicas: 1 }))
    const { metadata } = await complete(world)
    const name = (await replicaSets(world))[0]!.metadata!.name!
    const reference = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      name: 'web',
      uid: metadata?.uid,
    }
    for (const changed of [{ ...reference, controller: false }, reference]) {
      await world.of(resources.replicasets).patch(name, {
        type: 'json',
        operations: [{ op: 'replace', path: '/metadata/ownerReferences', value: [changed] }],
      })
      await world.until('it is controlled again', WITHIN_MS, async () => {
        const [owner, ...others] =
          (await world.find(resources.replicasets, name))?.metadata?.ownerReferences ?? []
        assert.equal(others.length, 0)
        return owner?.controller === true && owner.uid === metadata?.uid ? true : undefined
      })
    }
  },
)

scenario(
  'a ReplicaSet that has another owner, which does not control it, is adopted beside it',
  async (world) => {
    await deployments(world).create(deployment('web', { replicas: 1 }))
    const { metadata } = await complete(world)
    const name = (await replicaSets(world))[0]!.metadata!.name!
    const another = {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      name: 'web',
      uid: 'ab3c7d24-9c1e-4f7b-8d55-0f2a6c1b9e10',
      controller: false,
    }
    await world.of(resources.replicasets).patch(name, {
      type: 'json',
      operations: [{ op: 'replace', path: '/metadata/ownerReferences', value: [another] }],
    })
    const owners = await world.until('it has two owners', WITHIN_MS, async () => {
      const found = await world.find(resources.replicasets, name)
      const all = found?.metadata?.ownerReferences ?? []
      return all.length === 2 ? all : undefined
    })
    assert.deepEqual(
      owners.filter(({ controller }) => controller).map(({ uid }) => uid),
      [metadata?.uid],
    )
    assert.equal((await replicaSets(world)).length, 1)
  },
  // The collector would take the owner away that never was.
  {
    controllers: [
      'deployment-controller',
      'replicaset-controller',
      'node-lifecycle-controller',
      'serviceaccount-controller',
      'root-ca-certificate-publisher-controller',
    ],
  },
)

scenario(
  'Given RS labels changed, then it is released and a new RS appears; labels restored, then adopted again',
  async (world) => {
    await deployments(world).create(deployment('web', { replicas: 1 }))
    await complete(world)
    const name = (await replicaSets(world))[0]!.metadata!.name!
    const owners = async () =>
      (await world.find(resources.replicasets, name))?.metadata?.ownerReferences ?? []
    const relabel = async (app: string) =>
      await world
        .of(resources.replicasets)
        .patch(name, { type: 'merge', value: { metadata: { labels: { app } } } })
    await relabel('other')
    await world.until('released', WITHIN_MS, async () =>
      (await owners()).length === 0 ? true : undefined,
    )
    await world.until('another one', WITHIN_MS, async () =>
      (await replicaSets(world)).length === 2 ? true : undefined,
    )
    await relabel('web')
    await world.until('adopted again', WITHIN_MS, async () =>
      (await owners())[0]?.controller === true ? true : undefined,
    )
    await complete(world)
    const total = (await replicaSets(world)).reduce(
      (sum, { spec }) => sum + (spec?.replicas ?? 0),
      0,
    )
    assert.equal(total, 1)
  },
)

scenario(
  'minReadySeconds holds Available back, and reaches the ReplicaSet when it changes',
  async (world) => {
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } }
    const base = deployment('web', { replicas: 2 })
    const spec = {
      ...base.spec!,
      strategy,
      minReadySeconds: 3_600,
      progressDeadlineSeconds: 7_200,
    } as Deployment['spec']
    await deployments(world).create({ ...base, spec })
    await world.until('two ready', WITHIN_MS, async () =>
      (await web(world)).status?.readyReplicas === 2 ? true : undefined,
    )
    const available = await reason(world, 'Available', 'MinimumReplicasUnavailable')
    assert.equal(available.status, 'False')
    assert.equal(available.message, 'Deployment does not have minimum availability.')
    assert.equal((await web(world)).status?.unavailableReplicas, 2)
    await patch(world, { spec: { minReadySeconds: 1 } })
    await reason(world, 'Available', 'MinimumReplicasAvailable')
    assert.equal((await replicaSets(world))[0]?.spec?.minReadySeconds, 1)
    await complete(world)
  },
)

scenario(
  'Given pods never ready and deadline 3 s, then ProgressDeadlineExceeded; after a better template, NewReplicaSetAvailable',
  async (world) => {
    const base = deployment('web', { replicas: 1, annotations: NEVER_READY })
    await deployments(world).create({
      ...base,
      spec: { ...base.spec!, progressDeadlineSeconds: 3 },
    })
    const name = await world.until(
      'a ReplicaSet',
      WITHIN_MS,
      async () => (await replicaSets(world))[0]?.metadata?.name,
    )
    const late = await reason(world, 'Progressing', 'ProgressDeadlineExceeded', 10_000)
    assert.deepEqual(
      [late.status, late.message],
      ['False', `ReplicaSet "${name}" has timed out progressing.`],
    )
    await setImage(world, 'web:2', { 'sim.kubelet/ready-after': null })
    const fine = await reason(world, 'Progressing', 'NewReplicaSetAvailable')
    assert.equal(fine.status, 'True')
  },
)

scenario(
  'Given Recreate and terminating old pods, then no new RS until they are gone; they are counted as terminating',
  async (world) => {
    const strategy = { type: 'Recreate' } as const
    const base = deployment('web', { replicas: 2, image: 'web:1', annotations: SLOW_TO_END })
    await deployments(world).create({ ...base, spec: { ...base.spec!, strategy } })
    await complete(world)
    await setImage(world, 'web:2')
    await world.advance(15_000)
    assert.equal((await world.list(resources.pods)).length, 2)
    assert.deepEqual(await livePods(world), [])
    assert.deepEqual(await sizes(world), { 'web:1': 0 })
    assert.equal((await web(world)).status?.terminatingReplicas, 2)
    const done = await complete(world)
    assert.equal(done.status?.terminatingReplicas, 0)
    assert.deepEqual(await sizes(world), { 'web:1': 0, 'web:2': 2 })
  },
)

scenario(
  'a condition that somebody else puts into the status stays, and so does one that has no times',
  async (world) => {
    await deployments(world).create(deployment('web', { replicas: 1 }))
    const { status } = await complete(world)
    const foreign = { type: 'StatusUpdate', status: 'True', reason: 'E2E', message: 'Set from e2e' }
    await deployments(world).patch(
      'web',
      {
        type: 'merge',
        value: {
          status: {
            conditions: [...(status?.conditions ?? []), foreign, { type: 'X', status: 'True' }],
          },
        },
      },
      { subresource: 'status' },
    )
    await patch(world, { spec: { replicas: 3 } })
    const { status: later } = await complete(world)
    assert.equal(findCondition(later?.conditions, 'StatusUpdate')?.message, 'Set from e2e')
    assert.equal(findCondition(later?.conditions, 'X')?.status, 'True')
    const { resourceVersion } = (await web(world)).metadata!
    await world.advance(60_000)
    assert.equal((await web(world)).metadata?.resourceVersion, resourceVersion)
  },
)

scenario(
  'a Deployment that is deleted and made again under its name never works with the ReplicaSets of its predecessor',
  async (world) => {
    const made = deployment('web', { replicas: 2 })
    await deployments(world).create(made)
    const before = await complete(world)
    await deployments(world).delete('web', { propagationPolicy: 'Background' })
    await deployments(world).create(made)
    const after = await complete(world)
    assert.notEqual(after.metadata?.uid, before.metadata?.uid)
    await world.until('only what is its own', WITHIN_MS, async () => {
      const all = await replicaSets(world)
      return all.length === 1 && isControlledBy(all[0]!, after) ? true : undefined
    })
    assert.equal((await livePods(world)).length, 2)
    const settled = await complete(world)
    assert.equal(findCondition(settled.status?.conditions, 'Available')?.status, 'True')
  },
)

scenario(
  'orphans of a deleted Deployment are adopted by the one made after it, pods and all',
  async (world) => {
    const made = deployment('web', { replicas: 2 })
    await deployments(world).create(made)
    await complete(world)
    const podsBefore = (await livePods(world)).map(({ metadata }) => metadata?.uid).toSorted()
    await deployments(world).delete('web', { propagationPolicy: 'Orphan' })
    await world.until('it is gone', WITHIN_MS, async () =>
      (await world.find(resources.deployments, 'web')) === undefined ? true : undefined,
    )
    assert.equal((await replicaSets(world))[0]?.metadata?.ownerReferences, undefined)
    await deployments(world).create(made)
    const after = await complete(world)
    const all = await replicaSets(world)
    assert.equal(all.length, 1)
    assert.ok(isControlledBy(all[0]!, after))
    assert.deepEqual(
      (await livePods(world)).map(({ metadata }) => metadata?.uid).toSorted(),
      podsBefore,
    )
    assert.equal(
      findCondition(after.status?.conditions, 'Progressing')?.reason,
      'NewReplicaSetAvailable',
    )
  },
)

scenario(
  'a namespace that is deleted in the middle of a rollout takes everything with it',
  async (world) => {
    await world.of(resources.namespaces).create({ metadata: { name: 'a' } })
    const base = deployment('web', { replicas: 5 })
    await world
      .of(resources.deployments, 'a')
      .create({ ...base, metadata: { name: 'web', namespace: 'a' } })
    await world.advance(200)
    await world.of(resources.namespaces).delete('a')
    await world.until('the namespace is gone', WITHIN_MS, async () =>
      (await world.find(resources.namespaces, 'a')) === undefined ? true : undefined,
    )
    assert.deepEqual(await world.list(resources.pods, 'a'), [])
    assert.deepEqual(await world.list(resources.replicasets, 'a'), [])
  },
)

scenario(
  'a policy that refuses the pods is a failure of the ReplicaSet and of the Deployment, and no longer one when it is gone',
  async (world) => {
    await world.of(resources.validatingadmissionpolicies).create({
      metadata: { name: 'no-pods' },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
          ],
        },
        validations: [{ expression: 'false', message: 'no pods today' }],
      },
    })
    await world.of(resources.validatingadmissionpolicybindings).create({
      metadata: { name: 'no-pods' },
      spec: { policyName: 'no-pods', validationActions: ['Deny'] },
    })
    await world.advance(5_000)
    await deployments(world).create(deployment('web', { replicas: 3 }))
    const failure = await reason(world, 'ReplicaFailure', 'FailedCreate')
    assert.equal(failure.status, 'True')
    assert.match(failure.message ?? '', /no pods today/)
    const [only] = await replicaSets(world)
    assert.equal(
      findCondition(only?.status?.conditions, 'ReplicaFailure')?.message,
      failure.message,
    )
    const events = await eventsOf(world, only?.metadata?.name ?? '')
    assert.ok(events.length > 0)
    for (const event of events)
      assert.match(event, /^Warning FailedCreate Error creating: .*no pods today/)
    await world.of(resources.validatingadmissionpolicybindings).delete('no-pods')
    const done = await world.until('it recovers', 2 * WITHIN_MS, async () => {
      const found = await web(world)
      return found.status?.availableReplicas === 3 ? found : undefined
    })
    await world.advance(2_000)
    assert.equal(findCondition(done.status?.conditions, 'Available')?.status, 'True')
    assert.equal(findCondition((await web(world)).status?.conditions, 'ReplicaFailure'), undefined)
  },
)
