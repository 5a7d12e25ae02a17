import type { Container, Pod } from '@gyropilot/api'
import type { Place } from '../container/container-commands.ts'
import type { PodStorage } from '../container/pod-storage.ts'
import type { LocalPod } from '../running/local-pod.ts'
import { tell } from '../running/told-lines.ts'
import type { NodeServices } from './node-services.ts'
import { podStatusOf } from './pod-status.ts'

type Resources = Container['resources']

/** Where commands of a container of the pod run. */
export function placeOf(
  node: NodeServices,
  stored: Pod,
  local: LocalPod,
  storage: PodStorage,
  { container, containerId }: Pick<Place, 'container' | 'containerId'>,
): Place {
  const { client, clock, nodeName, network } = node
  // What the node knows already may not be written yet.
  const status = podStatusOf(stored, local, node, clock.nowMs())
  const pod = { ...stored, status: { ...status, qosClass: stored.status?.qosClass } }
  return {
    pod,
    network: network && ((signal) => network.of(pod, nodeName, signal)),
    container,
    containerId,
    storage,
    client,
    clock,
    nodeName,
    ...(mayLeave(stored, container) && { machine: node.volumes.machine }),
    tell: async (bytes) => {
      const all = [...local.containers, ...local.ephemeral]
      const own = all.find(({ spec }) => spec.name === container.name)
      if (own !== undefined) await tell(own, clock.nowMs(), bytes)
    },
    resources: () => {
      const own = local.containers.find(({ spec }) => spec.name === container.name)
      return withLimitsOf(stored, own?.resources ?? container.resources)
    },
  }
}

/** A container without a limit is held to that of its pod. */
function withLimitsOf({ spec }: Pod, own: Resources): Resources {
  const ofPod = spec?.resources?.limits
  return ofPod === undefined ? own : { ...own, limits: { ...ofPod, ...own?.limits } }
}

/** Whether its programs may enter the machine: nothing is refused to them, and they see its processes, or all of its files. */
function mayLeave({ spec }: Pod, { securityContext }: Place['container']): boolean {
  if (securityContext?.privileged !== true) return false
  return (
    spec?.hostPID === true || (spec?.volumes ?? []).some(({ hostPath }) => hostPath?.path === '/')
  )
}
