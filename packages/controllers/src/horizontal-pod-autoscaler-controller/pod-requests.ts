/**
 * What the pods of a target request of a resource: what a utilization is a part of. Pure.
 * Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Replica formulas, Utilization.
 */
import { podResources, quantityToMilli } from '@gyropilot/api'
import type { Container, Pod } from '@gyropilot/api'

/** Thousandths by name of the pod. Throws when a request, or the container, is missing in any pod. `container`: of that one alone. */
export function podRequests(
  pods: readonly Pod[],
  resource: string,
  container: string | undefined,
  readsPodLevel: boolean,
): ReadonlyMap<string, number> {
  const requests = new Map<string, number>()
  for (const pod of pods) {
    const name = pod.metadata?.name ?? ''
    const ofPod = pod.spec?.resources?.requests
    const isPodLevel = readsPodLevel && container === undefined && ofPod !== undefined
    requests.set(
      name,
      isPodLevel ? podLevelRequest(pod, resource) : containerRequests(pod, resource, container),
    )
  }
  return requests
}

/** As the scheduler counts it: with overhead, and what the pod as a whole does not name is that of its containers, of whichever names it. */
function podLevelRequest(pod: Pod, resource: string): number {
  const quantity = podResources(pod, 'requests')[resource]
  if (quantity === undefined)
    throw new Error(`missing pod-level request for ${resource} in Pod ${pod.metadata?.name}`)
  return quantityToMilli(quantity)
}

/** Of containers that run all the time: sidecars too. */
function containerRequests(pod: Pod, resource: string, named: string | undefined): number {
  const sidecars = (pod.spec?.initContainers ?? []).filter(
    ({ restartPolicy }) => restartPolicy === 'Always',
  )
  const running: readonly Container[] = [...(pod.spec?.containers ?? []), ...sidecars]
  const counted = running.filter(({ name }) => named === undefined || name === named)
  if (named !== undefined && counted.length === 0)
    throw new Error(`container ${named} not found in Pod ${pod.metadata?.name}`)
  let sum = 0
  for (const { name, resources } of counted) {
    const quantity = resources?.requests?.[resource]
    if (quantity === undefined)
      throw new Error(
        `missing request for ${resource} in container ${name} of Pod ${pod.metadata?.name}`,
      )
    sum += quantityToMilli(quantity)
  }
  return sum
}
