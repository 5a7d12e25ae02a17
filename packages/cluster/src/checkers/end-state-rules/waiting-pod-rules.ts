/** Pods at rest have been looked at by who is to place and to start them. Contract: docs/behaviour/simulation/scheduler.md, kubelet.md. */
import {
  findCondition,
  isConditionTrue,
  isPodActive,
  podGroupNameOf,
  resources,
} from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

const SCHEDULER = 'default-scheduler'

/** Who ignores pods altogether would leave a world in which nothing else is wrong. Worlds without nodes have nobody who places pods. */
export function* placedPods(objects: Objects): Iterable<string> {
  const nodes = objects.all(resources.nodes)
  if (nodes.length === 0) return
  const pods = objects.all(resources.pods)
  const open = nodes.filter((node) => isOpen(node, pods))
  for (const pod of pods) {
    if (!isPodActive(pod) || pod.spec?.nodeName || !isForScheduler(pod)) continue
    const name = `Pod ${pod.metadata?.namespace}/${pod.metadata?.name}`
    if (findCondition(pod.status?.conditions, 'PodScheduled') === undefined)
      yield `${name} has no node, and nobody says why`
    else if (open[0] !== undefined && asksForNothing(pod))
      yield `${name} asks for nothing and has no node, though ${open[0].metadata?.name} takes anybody`
  }
}

export function* startedPods(objects: Objects): Iterable<string> {
  for (const pod of objects.all(resources.pods)) {
    const node = objects.find(resources.nodes, undefined, pod.spec?.nodeName ?? '')
    if (!isPodActive(pod) || node === undefined || !isReady(node)) continue
    const { metadata, status } = pod
    if (status?.startTime === undefined)
      yield `Pod ${metadata?.namespace}/${metadata?.name} is on ${node.metadata?.name}, which has not begun with it`
  }
}

/** Those that wait for others first wait in silence: gates, claims, pods of one group. */
function isForScheduler({ spec, ...pod }: Pod): boolean {
  return (
    (spec?.schedulerName ?? SCHEDULER) === SCHEDULER &&
    (spec?.schedulingGates ?? []).length === 0 &&
    (spec?.resourceClaims ?? []).length === 0 &&
    podGroupNameOf({ spec, ...pod }) === undefined
  )
}

function asksForNothing({ spec }: Pod): boolean {
  const {
    nodeSelector,
    affinity,
    topologySpreadConstraints = [],
    volumes = [],
    overhead,
  } = spec ?? {}
  const containers = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
  return (
    nodeSelector === undefined &&
    affinity === undefined &&
    overhead === undefined &&
    spec?.resources === undefined &&
    topologySpreadConstraints.length === 0 &&
    !volumes.some((volume) => volume.persistentVolumeClaim ?? volume.ephemeral ?? volume.csi) &&
    containers.every(
      ({ resources: asked, ports = [] }) =>
        asked === undefined && ports.every(({ hostPort }) => hostPort === undefined),
    )
  )
}

function isReady({ status }: Node): boolean {
  return isConditionTrue(status?.conditions, 'Ready')
}

/** It takes a pod that tolerates nothing. */
function isOpen(node: Node, pods: readonly Pod[]): boolean {
  const { metadata, spec, status } = node
  const isKept = (spec?.taints ?? []).some(({ effect }) => effect !== 'PreferNoSchedule')
  if (!isReady(node) || isKept || spec?.unschedulable || metadata?.deletionTimestamp) return false
  const count = pods.filter((pod) => isPodActive(pod) && pod.spec?.nodeName === metadata?.name)
  return count.length < Number(status?.allocatable?.['pods'] ?? 0)
}
