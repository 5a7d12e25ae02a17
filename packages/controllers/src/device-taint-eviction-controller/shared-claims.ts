/**
 * Claims that a PodGroup shares with its pods (gate DRAWorkloadResourceClaims). This controller has no cache of PodGroups:
 * it knows them by their names, as upstream's does.
 * Contract: docs/behaviour/controllers/device-taint-eviction-controller.md, Pod evaluation.
 */
import { POD_GROUPS, apiVersionOf, controllerOf, podGroupNameOf } from '@gyropilot/api'
import type { Pod, ResourceClaim, ResourceClaimConsumerReference } from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'
import { podsOfGroup } from '../workload-support/group-pod-index.ts'

/** Made for the group that the pod names. */
export function isClaimForGroupOf(claim: ResourceClaim, pod: Pod): boolean {
  const owner = controllerOf(claim)
  return (
    owner?.kind === POD_GROUPS.kind &&
    owner.apiVersion === apiVersionOf(POD_GROUPS) &&
    owner.name === podGroupNameOf(pod)
  )
}

export function isReservedForGroupOf({ status }: ResourceClaim, pod: Pod): boolean {
  const group = podGroupNameOf(pod)
  return (
    group !== undefined &&
    status?.reservedFor?.some((consumer) => isGroup(consumer) && consumer.name === group) === true
  )
}

export function podsOfConsumer(
  { pods, sharesClaims }: { readonly pods: Lister<Pod>; readonly sharesClaims: boolean },
  namespace: string | undefined,
  consumer: ResourceClaimConsumerReference,
): readonly Pod[] {
  const { name, uid } = consumer
  if (sharesClaims && isGroup(consumer)) return podsOfGroup(pods, `${namespace}/${name}`)
  const pod = pods.get(namespace, name)
  return pod?.metadata?.uid === uid ? [pod!] : []
}

function isGroup({ apiGroup, resource }: ResourceClaimConsumerReference): boolean {
  return apiGroup === POD_GROUPS.group && resource === POD_GROUPS.resource
}
