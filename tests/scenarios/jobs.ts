/** Jobs in scenarios: making them, looking at them, and playing the kubelet for their pods. */
import assert from 'node:assert/strict'
import { findCondition, resources } from '@gyropilot/api'
import type { Job, JobSpec, Pod } from '@gyropilot/api'
import { byString, formatTime } from '@gyropilot/foundation'
import type { World } from './scenario.ts'

export const WITHIN_MS = 60_000
export const TRACKING = 'batch.kubernetes.io/job-tracking'
const INDEX = 'batch.kubernetes.io/job-completion-index'

type PodTemplate = JobSpec['template']

export function job(
  spec: Partial<JobSpec> = {},
  given: { readonly name?: string; readonly template?: PodTemplate } = {},
): Job {
  const container = { name: 'c', image: 'busybox:1' }
  const { name = 'work', template } = given
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: 'default' },
    spec: {
      template: {
        ...template,
        spec: { restartPolicy: 'Never', containers: [container], ...template?.spec },
      },
      ...spec,
    },
  }
}

export async function work(world: World, name = 'work'): Promise<Job> {
  const found = await world.find(resources.jobs, name)
  assert.ok(found, `there is no job ${name}`)
  return found
}

export async function patchJob(world: World, value: object, name = 'work'): Promise<void> {
  await world.of(resources.jobs).patch(name, { type: 'merge', value })
}

/** The oldest first. */
export async function podsOf(world: World): Promise<readonly Pod[]> {
  const orderOf = ({ metadata }: Pod): string => `${metadata!.creationTimestamp} ${metadata!.name}`
  return (await world.list(resources.pods)).toSorted(byString(orderOf))
}

export async function runningPods(world: World): Promise<readonly Pod[]> {
  return (await podsOf(world)).filter(
    ({ metadata, status }) =>
      metadata?.deletionTimestamp === undefined &&
      status?.phase !== 'Succeeded' &&
      status?.phase !== 'Failed',
  )
}

/** Waits until so many pods are neither ended nor on their way out. */
export function untilPods(world: World, count: number): Promise<readonly Pod[]> {
  return world.until(`${count} pods`, WITHIN_MS, async () => {
    const pods = await runningPods(world)
    return pods.length === count ? pods : undefined
  })
}

export function podOfIndex(pods: readonly Pod[], index: number): Pod {
  const found = pods.find(({ metadata }) => metadata?.annotations?.[INDEX] === `${index}`)
  assert.ok(found, `no pod of index ${index}`)
  return found
}

/** Waits for a condition that is true. */
export function untilCondition(world: World, type: string, name = 'work') {
  return world.until(`${name} is ${type}`, WITHIN_MS, async () => {
    const condition = findCondition((await work(world, name)).status?.conditions, type)
    return condition?.status === 'True' ? condition : undefined
  })
}

export function untilStatus(
  world: World,
  what: string,
  accept: (status: NonNullable<Job['status']>) => boolean,
): Promise<Job> {
  return world.until(what, WITHIN_MS, async () => {
    const found = await work(world)
    return accept(found.status ?? {}) ? found : undefined
  })
}

/** As a kubelet would: the pod runs. */
export async function start(world: World, pod: Pod): Promise<void> {
  await setStatus(world, pod, {
    phase: 'Running',
    containerStatuses: statuses(pod, { running: { startedAt: formatTime(world.clock.nowMs()) } }),
  })
}

/** As a kubelet would: the pod has come to its end. */
export async function end(
  world: World,
  pod: Pod,
  exitCode: number,
  conditions: readonly object[] = [],
): Promise<void> {
  const finishedAt = formatTime(world.clock.nowMs())
  const terminated = { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt }
  await setStatus(world, pod, {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    conditions,
    containerStatuses: statuses(pod, { terminated }),
  })
}

/** As a kubelet would, at the end of a pod's grace period. */
export async function remove(world: World, pod: Pod): Promise<void> {
  await world.of(resources.pods).delete(pod.metadata!.name!, { gracePeriodSeconds: 0 })
}

/** Binds a pod, so that deleting it takes its grace period. */
export async function bind(world: World, pod: Pod): Promise<void> {
  const name = pod.metadata!.name!
  await world.of(resources.pods).createSubresource(name, 'binding', {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name },
    target: { apiVersion: 'v1', kind: 'Node', name: 'node-a' },
  } as object)
}

function statuses(pod: Pod, state: object) {
  return pod.spec!.containers!.map(({ name, image }) => ({
    name,
    image,
    imageID: 'i',
    ready: false,
    restartCount: 0,
    state,
  }))
}

async function setStatus(world: World, pod: Pod, status: object): Promise<void> {
  await world
    .of(resources.pods)
    .patch(pod.metadata!.name!, { type: 'merge', value: { status } }, { subresource: 'status' })
}
