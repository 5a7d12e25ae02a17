/** What upstream's end-to-end and integration tests say of Jobs, on a whole cluster. The scenarios play the kubelet, unless they have nodes. */
import assert from 'node:assert/strict'
import { controllerOf, findCondition, parseTime, resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import {
  TRACKING,
  WITHIN_MS,
  bind,
  end,
  job,
  patchJob,
  podOfIndex,
  podsOf,
  remove,
  runningPods,
  start,
  untilCondition,
  untilPods,
  untilStatus,
  work,
} from './jobs.ts'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

/** The scenario plays the nodes. Nobody may take its pods for those of nodes that are gone. */
const WITHOUT_NODES = { nodes: 0, controllers: ['*', '-pod-garbage-collector-controller'] }
const FAILING = { metadata: { annotations: { 'sim.kubelet/exit-code': '1' } } }

async function eventsOf(world: World): Promise<readonly string[]> {
  return (await world.list(resources.events))
    .filter(({ involvedObject }) => involvedObject.kind === 'Job')
    .map(({ reason }) => reason ?? '')
}

/** Of the pods that exist. */
function isHeld({ metadata }: Pod): boolean {
  return metadata?.finalizers?.includes(TRACKING) === true
}

scenario(
  'Given parallelism 2, completions 5, when started, then 2 Pods, startTime set, active 2, ready 0, terminating 0',
  async (world) => {
    await world.of(resources.jobs).create(job({ parallelism: 2, completions: 5 }))
    const pods = await untilPods(world, 2)
    const { status } = await untilStatus(world, '2 active', ({ active }) => active === 2)
    assert.ok(parseTime(status!.startTime) !== undefined)
    assert.deepEqual([status!.ready, status!.terminating], [0, 0])
    for (const pod of pods) {
      assert.deepEqual(pod.metadata!.finalizers, [TRACKING])
      assert.equal(controllerOf(pod)?.name, 'work')
    }
  },
  WITHOUT_NODES,
)

scenario(
  'Given no completions and one Pod succeeded, when the others run, then no new Pod; when all finish, Complete',
  async (world) => {
    await world.of(resources.jobs).create(job({ parallelism: 3 }))
    const [first, ...others] = await untilPods(world, 3)
    await end(world, first!, 0)
    await untilStatus(world, 'one succeeded', ({ succeeded }) => succeeded === 1)
    await world.advance(10_000)
    assert.equal((await podsOf(world)).length, 3)
    for (const pod of others) await end(world, pod, 0)
    await untilCondition(world, 'Complete')
    const { status } = await work(world)
    assert.deepEqual([status!.succeeded, status!.active], [3, undefined])
    assert.ok(!(await podsOf(world)).some(isHeld))
    assert.ok((await eventsOf(world)).includes('Completed'))
  },
  WITHOUT_NODES,
)

scenario(
  'Given backoffLimit 0 and one failed Pod among 10 with 9 later succeeded, when the controller restarts mid-way, then Job Failed',
  async (world) => {
    const spec = { parallelism: 10, completions: 10, backoffLimit: 0 }
    await world.of(resources.jobs).create(job(spec))
    const [first, ...others] = await untilPods(world, 10)
    await end(world, first!, 1)
    await world.advance(1_005)
    world.restartManager()
    for (const pod of others)
      if (await world.find(resources.pods, pod.metadata!.name!)) await end(world, pod, 0)
    const condition = await untilCondition(world, 'Failed')
    assert.equal(condition.reason, 'BackoffLimitExceeded')
    const { status } = await work(world)
    assert.equal((status!.failed ?? 0) + (status!.succeeded ?? 0), 10)
    assert.ok(!(await podsOf(world)).some(isHeld))
  },
  WITHOUT_NODES,
)

scenario(
  'Given two failures, then Pod 2 starts 10-20s after failure 1 and Pod 3 20-40s after failure 2',
  async (world) => {
    await world.of(resources.jobs).create(job({}, { template: FAILING }))
    const pods = await world.until('three pods', 120_000, async () => {
      const found = await podsOf(world)
      return found.length === 3 ? found : undefined
    })
    const finishedMs = (pod: Pod): number =>
      parseTime(pod.status!.containerStatuses![0]!.state!.terminated!.finishedAt)!
    const createdMs = (pod: Pod): number => parseTime(pod.metadata!.creationTimestamp)!
    const second = createdMs(pods[1]!) - finishedMs(pods[0]!)
    const third = createdMs(pods[2]!) - finishedMs(pods[1]!)
    assert.ok(second >= 10_000 && second < 20_000, `${second}`)
    assert.ok(third >= 20_000 && third < 40_000, `${third}`)
  },
)

scenario(
  'Given activeDeadlineSeconds 10 and startTime 15s ago, then Pods deleted, FailureTarget/Failed DeadlineExceeded; suspended Job unaffected',
  async (world) => {
    const spec = { activeDeadlineSeconds: 10 }
    await world.of(resources.jobs).create(job({ ...spec, suspend: true }, { name: 'rests' }))
    await world.of(resources.jobs).create(job(spec))
    await untilPods(world, 1)
    await world.advance(9_000)
    assert.equal((await runningPods(world)).length, 1)
    await world.advance(6_000)
    for (const type of ['FailureTarget', 'Failed']) {
      const { reason, message } = await untilCondition(world, type)
      assert.equal(reason, 'DeadlineExceeded')
      assert.equal(message, 'Job was active longer than specified deadline')
    }
    assert.deepEqual(await podsOf(world), [])
    const { conditions } = (await work(world, 'rests')).status!
    assert.deepEqual(
      conditions!.map(({ type }) => type),
      ['Suspended'],
    )
  },
  WITHOUT_NODES,
)

scenario(
  'Given a suspended start, then no Pods and Suspended=True; resume: Pods, Suspended=False, new startTime',
  async (world) => {
    await world.of(resources.jobs).create(job({ parallelism: 2, suspend: true }))
    await untilCondition(world, 'Suspended')
    assert.deepEqual(await podsOf(world), [])
    assert.equal((await work(world)).status!.startTime, undefined)
    await patchJob(world, { spec: { suspend: false } })
    await untilPods(world, 2)
    const resumed = await untilStatus(world, 'it is resumed', ({ active }) => active === 2)
    assert.equal(findCondition(resumed.status!.conditions, 'Suspended')!.status, 'False')
    const firstStart = parseTime(resumed.status!.startTime)!
    await world.advance(5_000)
    await patchJob(world, { spec: { suspend: true } })
    await untilCondition(world, 'Suspended')
    await untilPods(world, 0)
    const { status } = await untilStatus(world, 'it has stopped', ({ active }) => !active)
    assert.deepEqual([status!.startTime, status!.failed], [undefined, undefined])
    await world.advance(5_000)
    await patchJob(world, { spec: { suspend: false } })
    await untilPods(world, 2)
    assert.ok(parseTime((await work(world)).status!.startTime)! >= firstStart + 10_000)
    assert.deepEqual(
      (await eventsOf(world))
        .filter((reason) => ['Suspended', 'Resumed'].includes(reason))
        .toSorted(),
      ['Resumed', 'Suspended'],
    )
  },
  WITHOUT_NODES,
)

scenario(
  'a suspended Job may be given other scheduling directives and resources, which its pods have when it is resumed',
  async (world) => {
    await world.of(resources.jobs).create(job())
    await untilPods(world, 1)
    const running = { template: { spec: { nodeSelector: { zone: 'b' } } } }
    await assert.rejects(patchJob(world, { spec: running }), /field is immutable/)
    await patchJob(world, { spec: { suspend: true } })
    await untilCondition(world, 'Suspended')
    await untilPods(world, 0)
    const resourcesOfIt = { requests: { cpu: '250m' } }
    await world.of(resources.jobs).patch('work', {
      type: 'strategic',
      value: {
        spec: {
          template: {
            metadata: { annotations: { note: 'x' } },
            spec: {
              nodeSelector: { zone: 'b' },
              containers: [{ name: 'c', resources: resourcesOfIt }],
            },
          },
        },
      },
    })
    await patchJob(world, { spec: { suspend: false } })
    const [pod] = await untilPods(world, 1)
    assert.deepEqual(pod!.spec!.nodeSelector, { zone: 'b' })
    assert.deepEqual(pod!.spec!.containers![0]!.resources, resourcesOfIt)
    assert.equal(pod!.metadata!.annotations!['note'], 'x')
  },
  WITHOUT_NODES,
)

const RULES = {
  rules: [
    { action: 'FailJob', onExitCodes: { operator: 'In', values: [42] } },
    { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
  ],
} as const

scenario(
  'Given a FailJob exit-code rule, then Failed with PodFailurePolicy message; Ignore rule on DisruptionTarget: failed stays 0 and a replacement starts',
  async (world) => {
    await world.of(resources.jobs).create(job({ podFailurePolicy: RULES, backoffLimit: 0 }))
    const [disrupted] = await untilPods(world, 1)
    await end(world, disrupted!, 137, [{ type: 'DisruptionTarget', status: 'True' }])
    const [replacement] = await untilPods(world, 1)
    assert.notEqual(replacement!.metadata!.uid, disrupted!.metadata!.uid)
    const { status } = await work(world)
    assert.deepEqual([status!.failed, status!.conditions], [undefined, undefined])
    await end(world, replacement!, 42)
    const { reason, message } = await untilCondition(world, 'Failed')
    assert.equal(reason, 'PodFailurePolicy')
    assert.equal(
      message,
      `Container c for pod default/${replacement!.metadata!.name} failed with exit code 42 matching FailJob rule at index 0`,
    )
    assert.equal((await work(world)).status!.failed, 1)
  },
  WITHOUT_NODES,
)

scenario(
  'Given backoffLimitPerIndex 1, index 0 failing twice, then failedIndexes "0", other indexes run, finally Failed FailedIndexes',
  async (world) => {
    const spec = { parallelism: 2, completions: 3, backoffLimitPerIndex: 1 }
    await world.of(resources.jobs).create(job({ ...spec, completionMode: 'Indexed' }))
    await end(world, podOfIndex(await untilPods(world, 2), 0), 1)
    await world.advance(WITHIN_MS)
    await end(world, podOfIndex(await untilPods(world, 2), 0), 1)
    const later = await untilStatus(
      world,
      'index 0 is lost',
      ({ failedIndexes }) => failedIndexes === '0',
    )
    assert.equal(findCondition(later.status!.conditions, 'FailureTarget'), undefined)
    for (const index of [1, 2])
      await end(world, podOfIndex(await untilPods(world, 3 - index), index), 0)
    const { reason } = await untilCondition(world, 'Failed')
    assert.equal(reason, 'FailedIndexes')
    const { status } = await work(world)
    assert.deepEqual([status!.completedIndexes, status!.failedIndexes], ['1,2', '0'])
    assert.deepEqual([status!.succeeded, status!.failed], [2, 2])
  },
  WITHOUT_NODES,
)

scenario(
  'Given per-index mode, when a Pod fails, then it keeps its finalizer until its replacement exists, which carries failure-count 1',
  async (world) => {
    const spec = { completions: 1, backoffLimitPerIndex: 2 }
    await world.of(resources.jobs).create(job({ ...spec, completionMode: 'Indexed' }))
    const [failed] = await untilPods(world, 1)
    const name = failed!.metadata!.name!
    await end(world, failed!, 1)
    await world.advance(5_000)
    assert.equal((await podsOf(world)).length, 1)
    assert.ok(isHeld((await world.find(resources.pods, name))!))
    const [replacement] = await untilPods(world, 1)
    const annotation = 'batch.kubernetes.io/job-index-failure-count'
    assert.equal(failed!.metadata!.annotations![annotation], '0')
    assert.equal(replacement!.metadata!.annotations![annotation], '1')
    await world.until('the failed pod is let go', WITHIN_MS, async () =>
      isHeld((await world.find(resources.pods, name))!) ? undefined : true,
    )
    await untilStatus(world, 'it is counted', (status) => status.failed === 1)
  },
  WITHOUT_NODES,
)

scenario(
  'Given successPolicy succeededCount 1, then SuccessCriteriaMet SuccessPolicy, remaining Pods deleted, Complete after they end',
  async (world) => {
    const successPolicy = { rules: [{ succeededCount: 1 }] }
    const spec = { parallelism: 3, completions: 3, successPolicy }
    await world.of(resources.jobs).create(job({ ...spec, completionMode: 'Indexed' }))
    const pods = await untilPods(world, 3)
    for (const pod of pods) await bind(world, pod)
    for (const pod of pods) await start(world, pod)
    await end(world, podOfIndex(pods, 1), 0)
    const { reason, message } = await untilCondition(world, 'SuccessCriteriaMet')
    assert.deepEqual([reason, message], ['SuccessPolicy', 'Matched rules at index 0'])
    await untilPods(world, 0)
    await world.advance(10_000)
    const { status } = await work(world)
    assert.equal(status!.terminating, 2)
    assert.equal(findCondition(status!.conditions, 'Complete'), undefined)
    for (const index of [0, 2]) await remove(world, podOfIndex(pods, index))
    await untilCondition(world, 'Complete')
    const done = (await work(world)).status!
    assert.deepEqual([done.succeeded, done.failed, done.completedIndexes], [1, undefined, '1'])
  },
  WITHOUT_NODES,
)

scenario(
  'Given BackoffLimitExceeded with a terminating Pod, then FailureTarget now, Failed only when it is gone',
  async (world) => {
    await world.of(resources.jobs).create(job({ parallelism: 2, completions: 2, backoffLimit: 0 }))
    const pods = await untilPods(world, 2)
    for (const pod of pods) await bind(world, pod)
    for (const pod of pods) await start(world, pod)
    await end(world, pods[0]!, 1)
    assert.equal((await untilCondition(world, 'FailureTarget')).reason, 'BackoffLimitExceeded')
    await world.advance(10_000)
    const waiting = (await work(world)).status!
    assert.deepEqual([waiting.terminating, waiting.failed], [1, 2])
    assert.equal(findCondition(waiting.conditions, 'Failed'), undefined)
    await remove(world, pods[1]!)
    await untilCondition(world, 'Failed')
  },
  WITHOUT_NODES,
)

scenario(
  'Given podReplacementPolicy Failed, when a Pod is deleted but still terminating, then no replacement until it is Failed',
  async (world) => {
    await world.of(resources.jobs).create(job({ podReplacementPolicy: 'Failed' }))
    const [pod] = await untilPods(world, 1)
    await bind(world, pod!)
    await start(world, pod!)
    await world.of(resources.pods).delete(pod!.metadata!.name!)
    const { status } = await untilStatus(
      world,
      'it is terminating',
      ({ terminating }) => terminating === 1,
    )
    assert.deepEqual([status!.failed, status!.active], [undefined, undefined])
    await world.advance(WITHIN_MS)
    assert.equal((await podsOf(world)).length, 1)
    await end(world, pod!, 143)
    await untilPods(world, 1)
    assert.equal((await work(world)).status!.failed, 1)
  },
  WITHOUT_NODES,
)

scenario(
  'Given managedBy `example.com/x`, then no Pods, no status, no events',
  async (world) => {
    await world.of(resources.jobs).create(job({ managedBy: 'example.com/x' }))
    await world.advance(WITHIN_MS)
    assert.deepEqual(await podsOf(world), [])
    assert.deepEqual((await work(world)).status, {})
    assert.deepEqual(await eventsOf(world), [])
  },
  WITHOUT_NODES,
)

scenario(
  'Given a Job deleted with Orphan, then Pods lose ownerRef and finalizer',
  async (world) => {
    await world.of(resources.jobs).create(job({ parallelism: 3 }))
    await untilPods(world, 3)
    await world.of(resources.jobs).delete('work', { propagationPolicy: 'Orphan' })
    await world.until('the pods are free', WITHIN_MS, async () => {
      const pods = await podsOf(world)
      const free = pods.filter((pod) => !isHeld(pod) && !pod.metadata!.ownerReferences?.length)
      return free.length === 3 ? true : undefined
    })
    assert.equal(await world.find(resources.jobs, 'work'), undefined)
  },
  WITHOUT_NODES,
)

scenario(
  'Given a matching orphan Pod and an owned Pod whose labels no longer match, then the first is adopted, the second released',
  async (world) => {
    const created = await world.of(resources.jobs).create(job({ parallelism: 2 }))
    const [kept, moved] = await untilPods(world, 2)
    const namesOf = async (): Promise<readonly string[]> =>
      (await podsOf(world))
        .filter((pod) => controllerOf(pod)?.uid === created.metadata!.uid)
        .map(({ metadata }) => metadata!.name!)
    const pods = world.of(resources.pods)
    const uidLabel = 'batch.kubernetes.io/controller-uid'
    await pods.patch(moved!.metadata!.name!, {
      type: 'merge',
      value: { metadata: { labels: { [uidLabel]: 'nobody' } } },
    })
    await world.until('it is released', WITHIN_MS, async () =>
      (await namesOf()).includes(moved!.metadata!.name!) ? undefined : true,
    )
    const released = (await world.find(resources.pods, moved!.metadata!.name!))!
    assert.ok(!isHeld(released))
    await pods.patch(kept!.metadata!.name!, {
      type: 'merge',
      value: { metadata: { ownerReferences: null, finalizers: null } },
    })
    await world.until('it is adopted', WITHIN_MS, async () => {
      const adopted = (await world.find(resources.pods, kept!.metadata!.name!))!
      return isHeld(adopted) && controllerOf(adopted) !== undefined ? true : undefined
    })
  },
  WITHOUT_NODES,
)

scenario(
  'Given a Job deleted and recreated at once after a failure, then the new Pod is created without backoff',
  async (world) => {
    await world.of(resources.jobs).create(job())
    const [failed] = await untilPods(world, 1)
    await end(world, failed!, 1)
    await untilStatus(world, 'the failure is counted', (status) => status.failed === 1)
    await world.of(resources.jobs).delete('work', { propagationPolicy: 'Background' })
    const again = await world.of(resources.jobs).create(job())
    await world.advance(3_000)
    const [pod] = await runningPods(world)
    assert.equal(controllerOf(pod!)?.uid, again.metadata!.uid)
  },
  WITHOUT_NODES,
)

scenario(
  'Given Indexed completions 3, then hostnames `<job>-0..2`, index label and annotation, completedIndexes "0-2"',
  async (world) => {
    await world
      .of(resources.jobs)
      .create(job({ completions: 3, parallelism: 3, completionMode: 'Indexed' }))
    await untilCondition(world, 'Complete')
    const pods = await podsOf(world)
    for (const index of [0, 1, 2]) {
      const { metadata, spec } = podOfIndex(pods, index)
      assert.equal(metadata!.labels!['batch.kubernetes.io/job-completion-index'], `${index}`)
      assert.equal(spec!.hostname, `work-${index}`)
      assert.match(metadata!.name!, new RegExp(`^work-${index}-`))
    }
    const { status } = await work(world)
    assert.deepEqual([status!.completedIndexes, status!.succeeded], ['0-2', 3])
  },
)

scenario(
  'an elastic indexed Job that shrinks forgets the indexes beyond, grows again and runs them anew, and at 0 is complete',
  async (world) => {
    await world
      .of(resources.jobs)
      .create(job({ completions: 3, parallelism: 3, completionMode: 'Indexed' }))
    const pods = await untilPods(world, 3)
    await end(world, podOfIndex(pods, 2), 0)
    await untilStatus(world, 'index 2 is done', ({ completedIndexes }) => completedIndexes === '2')
    await patchJob(world, { spec: { completions: 2, parallelism: 2 } })
    const shrunk = await untilStatus(
      world,
      'it forgets',
      ({ completedIndexes }) => !completedIndexes,
    )
    assert.equal(shrunk.status!.succeeded, undefined)
    await patchJob(world, { spec: { completions: 3, parallelism: 3 } })
    podOfIndex(await untilPods(world, 3), 2)
    await patchJob(world, { spec: { completions: 0, parallelism: 0 } })
    await untilCondition(world, 'Complete')
    assert.ok(!(await podsOf(world)).some(isHeld))
  },
  WITHOUT_NODES,
)
