/** Pods by the claims and templates they name, and claims by the pod they were made for. */
import { controllerOf, podClaimNames } from '@gyropilot/api'
import type { Pod, ResourceClaim } from '@gyropilot/api'
import type { IndexFunction, Informer, Lister } from '@gyropilot/runtime'

const CLAIM_INDEX = 'podResourceClaim'
const TEMPLATE_INDEX = 'podResourceClaimTemplate'
const OWNER_INDEX = 'resourceClaimOwnerPod'

const claimsOfPod: IndexFunction<Pod> = (pod) =>
  podClaimNames(pod).map((name) => `${pod.metadata?.namespace}/${name}`)

const templatesOfPod: IndexFunction<Pod> = ({ metadata, spec }) =>
  (spec?.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName }) =>
    resourceClaimTemplateName === undefined
      ? []
      : [`${metadata?.namespace}/${resourceClaimTemplateName}`],
  )

const ownerPodOfClaim: IndexFunction<ResourceClaim> = (claim) => {
  const owner = controllerOf(claim)
  return owner?.apiVersion === 'v1' && owner.kind === 'Pod' ? [owner.uid] : []
}

export function addIndexes(pods: Informer<Pod>, claims: Informer<ResourceClaim>): void {
  pods.addIndex(CLAIM_INDEX, claimsOfPod)
  pods.addIndex(TEMPLATE_INDEX, templatesOfPod)
  claims.addIndex(OWNER_INDEX, ownerPodOfClaim)
}

export function podsNamingClaim(pods: Lister<Pod>, claimKey: string): readonly Pod[] {
  return pods.byIndex(CLAIM_INDEX, claimKey)
}

export function podsNamingTemplate(pods: Lister<Pod>, templateKey: string): readonly Pod[] {
  return pods.byIndex(TEMPLATE_INDEX, templateKey)
}

export function claimsMadeFor(
  claims: Lister<ResourceClaim>,
  podUid: string,
): readonly ResourceClaim[] {
  return claims.byIndex(OWNER_INDEX, podUid)
}
