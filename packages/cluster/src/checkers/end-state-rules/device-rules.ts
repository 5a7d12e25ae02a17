/** What claims for devices must have come to. Written from the behaviour pages and not from the controllers. */
import {
  POD_GROUPS,
  controllerOf,
  deepEqual,
  isControlledBy,
  isPodActive,
  isPodFinished,
  isTerminating,
  podGroupNameOf,
  resources,
} from '@gyropilot/api'
import type { Pod, ResourceClaim } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

const POD_CLAIM = 'resource.kubernetes.io/pod-claim-name'

/** Every entry of a template that is there has one claim, made for this pod or for the PodGroup that has the same entry, and the status names it. */
export function* deviceClaimsOfPods(objects: Objects): Iterable<string> {
  for (const pod of objects.all(resources.pods)) {
    if (!isPodActive(pod)) continue
    const { namespace, name } = pod.metadata ?? {}
    const claims = objects.all(resources.resourceclaims, namespace)
    const groupName = podGroupNameOf(pod)
    const group = objects.find(POD_GROUPS, namespace, groupName ?? '')
    // Nothing is made for a pod whose group is not there.
    if (groupName !== undefined && group === undefined) continue
    for (const entry of pod.spec?.resourceClaims ?? []) {
      const template = entry.resourceClaimTemplateName
      if (template === undefined) continue
      if (objects.find(resources.resourceclaimtemplates, namespace, template) === undefined)
        continue
      const shared = group?.spec?.resourceClaims?.some((each) => deepEqual(each, entry))
      const owner = shared === true ? group! : pod
      const own = claims.filter(
        (claim) =>
          isControlledBy(claim, owner) && claim.metadata?.annotations?.[POD_CLAIM] === entry.name,
      )
      const text = `Pod ${namespace}/${name} has ${own.length} claims for ${entry.name}`
      if (own.length !== 1) yield text
      const recorded = pod.status?.resourceClaimStatuses?.find((each) => each.name === entry.name)
      if (own.length > 0 && recorded?.resourceClaimName !== own[0]?.metadata?.name)
        yield `${text}, its status says ${recorded?.resourceClaimName}`
    }
  }
}

/** Claims are reserved for pods and PodGroups that use them, and nobody keeps what nobody uses. */
export function* deviceClaims(objects: Objects): Iterable<string> {
  for (const claim of objects.all(resources.resourceclaims)) {
    const { namespace, name } = claim.metadata ?? {}
    const text = `ResourceClaim ${namespace}/${name}`
    for (const user of claim.status?.reservedFor ?? []) {
      if (user.resource === POD_GROUPS.resource && user.apiGroup === POD_GROUPS.group) {
        if (objects.find(POD_GROUPS, namespace, user.name)?.metadata?.uid !== user.uid)
          yield `${text} is reserved for PodGroup ${user.name}, which is gone`
      }
      if (user.resource !== 'pods' || user.apiGroup) continue
      const pod = objects.find(resources.pods, namespace, user.name)
      if (pod === undefined || pod.metadata?.uid !== user.uid)
        yield `${text} is reserved for pod ${user.name}, which is gone`
      else if (isPodFinished(pod)) yield `${text} is reserved for pod ${user.name}, which is over`
    }
    const owner = podOwning(objects, claim)
    if (owner !== undefined && isPodFinished(owner) && !isTerminating(claim))
      yield `${text} is left of pod ${owner.metadata?.name}, which is over`
  }
}

/** A device, or a share of one, is one claim's alone. */
export function* devicesTaken(objects: Objects): Iterable<string> {
  const takenBy = new Map<string, string>()
  for (const { metadata, status } of objects.all(resources.resourceclaims)) {
    const claim = `${metadata?.namespace}/${metadata?.name}`
    for (const result of status?.allocation?.devices?.results ?? []) {
      if (result.adminAccess === true) continue
      const share = result.shareID === undefined ? '' : ` (share ${result.shareID})`
      const device = `${result.driver}/${result.pool}/${result.device}${share}`
      const other = takenBy.get(device)
      if (other !== undefined) yield `ResourceClaims ${other} and ${claim} both have ${device}`
      takenBy.set(device, claim)
    }
  }
}

function podOwning(objects: Objects, claim: ResourceClaim): Pod | undefined {
  const owner = controllerOf(claim)
  if (owner?.kind !== 'Pod') return undefined
  const pod = objects.find(resources.pods, claim.metadata?.namespace, owner.name)
  return pod?.metadata?.uid === owner.uid ? pod : undefined
}
