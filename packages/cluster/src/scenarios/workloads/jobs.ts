/** Jobs. Their ends must be exact: who counts a pod twice, or never, does not come to these numbers. */
import type { Job, Pod } from '@gyropilot/api'
import { isConditionTrue, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { job } from '../objects.ts'
import type { Scenario } from '../scenario.ts'

const JOB = 'job-controller'
const TTL = 'ttl-after-finished-controller'
const COLLECTOR = 'garbage-collector-controller'
const STEP_MS = 10_000
const PATIENCE_MS = 600_000

const nameOf = ({ metadata }: Pod): string => metadata?.name ?? ''
/** Pods that ran when their Job was suspended. */
const toldToStop = new WeakMap<SimulatedCluster, ReadonlySet<string>>()

function work(cluster: SimulatedCluster): Job | undefined {
  return cluster.objects.find(resources.jobs, 'default', 'work')
}

function podsIn(cluster: SimulatedCluster, phase: string): readonly Pod[] {
  return cluster.objects.all(resources.pods, 'default').filter((pod) => pod.status?.phase === phase)
}

function isOver(cluster: SimulatedCluster, type: 'Complete' | 'Failed'): boolean {
  return isConditionTrue(work(cluster)?.status?.conditions, type)
}

async function untilOver(cluster: SimulatedCluster, type: 'Complete' | 'Failed'): Promise<void> {
  if (!(await cluster.until(() => isOver(cluster, type), PATIENCE_MS)))
    throw new Error(`work never was ${type}`)
}

/** Of a Job whose pods nobody deletes: the status counts those that are there. */
function* countsItsPods(cluster: SimulatedCluster, type: 'Complete' | 'Failed'): Iterable<string> {
  if (!isOver(cluster, type)) yield `work is not ${type}`
  const { succeeded = 0, failed = 0, completedIndexes } = work(cluster)?.status ?? {}
  const present = podsIn(cluster, 'Succeeded').length
  if (completedIndexes === undefined && succeeded !== present)
    yield `work counts ${succeeded} successes, ${present} pods have succeeded`
  const lost = podsIn(cluster, 'Failed').length
  if (failed < lost) yield `work counts ${failed} failures, ${lost} pods have failed`
}

export const jobScenarios: readonly Scenario[] = [
  {
    name: 'a Job of three runs two at a time',
    controllers: [JOB],
    async play(cluster) {
      await cluster.create(job('work', { spec: { completions: 3, parallelism: 2 } }))
      await untilOver(cluster, 'Complete')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* countsItsPods(cluster, 'Complete')
      const { succeeded = 0, failed = 0 } = work(cluster)?.status ?? {}
      if (succeeded < 3 || failed > 0) yield `${succeeded} succeeded and ${failed} failed`
    },
  },
  {
    name: 'an indexed Job whose pods fail ends with every index failed',
    controllers: [JOB],
    async play(cluster) {
      const spec = {
        completions: 2,
        parallelism: 2,
        completionMode: 'Indexed',
        backoffLimitPerIndex: 1,
      } as const
      const annotations = { 'sim.kubelet/exit-code': '1' }
      await cluster.create(job('work', { spec, annotations }))
      await untilOver(cluster, 'Failed')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* countsItsPods(cluster, 'Failed')
      const { failedIndexes } = work(cluster)?.status ?? {}
      if (failedIndexes !== '0,1') yield `indexes ${failedIndexes} failed and not 0,1`
    },
  },
  {
    name: 'a Job is suspended, resumed, and a pod of it deleted',
    controllers: [JOB],
    async play(cluster) {
      const annotations = { 'sim.kubelet/run': '15s' }
      await cluster.create(job('work', { spec: { completions: 2, parallelism: 2 }, annotations }))
      await cluster.advance(STEP_MS)
      const suspend = (suspended: boolean) =>
        cluster.patch(resources.jobs, 'default', 'work', {
          type: 'merge',
          value: { spec: { suspend: suspended } },
        })
      toldToStop.set(cluster, new Set(podsIn(cluster, 'Running').map(nameOf)))
      await suspend(true)
      await cluster.advance(STEP_MS)
      await suspend(false)
      await cluster.advance(STEP_MS)
      const [pod] = podsIn(cluster, 'Running')
      if (pod !== undefined)
        await cluster.delete(resources.pods, 'default', pod.metadata?.name ?? '')
      await untilOver(cluster, 'Complete')
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      if (!isOver(cluster, 'Complete')) yield 'work is not Complete'
      const { succeeded = 0 } = work(cluster)?.status ?? {}
      // The pod that was deleted may have ended well in its grace period, and be gone. One that was to stop is released first:
      // if the controller ends right then, the pod runs on and nobody counts it.
      const stopped = toldToStop.get(cluster)
      const present = podsIn(cluster, 'Succeeded').filter(
        (pod) => !stopped?.has(nameOf(pod)),
      ).length
      if (succeeded < 2 || succeeded < present)
        yield `work counts ${succeeded} successes, ${present} pods that have succeeded are there`
    },
  },
  {
    name: 'a finished Job goes when its time is over',
    controllers: [JOB, TTL, COLLECTOR],
    async play(cluster) {
      const spec = { completions: 2, parallelism: 2, ttlSecondsAfterFinished: 5 }
      await cluster.create(job('work', { spec }))
      await cluster.until(() => work(cluster) === undefined, PATIENCE_MS)
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      if (work(cluster) !== undefined) yield 'work is still there'
      const left = cluster.objects.all(resources.pods, 'default').length
      if (left > 0) yield `${left} pods are left`
    },
  },
]
