/** The claim that a pod or a PodGroup gets from a template. Contract: docs/behaviour/controllers/resourceclaim-controller.md, Created ResourceClaim. */
import type { ClaimUser, ResourceClaim, ResourceClaimTemplate } from '@gyropilot/api'
import { ownerOf } from './claim-users.ts'
import type { UserType } from './claim-users.ts'
import { GENERATED_BASE_BYTES_MAX, POD_CLAIM_ANNOTATION } from './config.ts'
import type { TemplateGates } from './config.ts'

/** Owned by its user, so that the garbage collector takes it away with it. */
export function claimFromTemplate(
  type: UserType,
  user: ClaimUser,
  entry: string,
  { spec: template }: ResourceClaimTemplate,
): ResourceClaim {
  const { labels, annotations } = template.metadata ?? {}
  const { namespace, name = '' } = user.metadata ?? {}
  return {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    metadata: {
      generateName: generatedNameBase(name, entry),
      namespace,
      ...(labels && { labels }),
      annotations: { ...annotations, [POD_CLAIM_ANNOTATION]: entry },
      ownerReferences: [ownerOf(type, user)],
    },
    spec: template.spec,
  }
}

/** `<user>-<entry>-`, each cut in proportion where that is too long for a generated name. Names are ASCII: a character is a byte. */
export function generatedNameBase(userName: string, entry: string): string {
  const base = `${userName}-${entry}-`
  if (base.length <= GENERATED_BASE_BYTES_MAX) return base
  const cut = (text: string): string =>
    text.slice(0, Math.floor((text.length * GENERATED_BASE_BYTES_MAX) / base.length))
  return `${cut(userName)}-${cut(entry)}`
}

/** What the template asks for that is switched off. */
export function templateProblem(
  { spec: template }: ResourceClaimTemplate,
  gates: TemplateGates,
): string | undefined {
  const requests = template.spec.devices?.requests ?? []
  if (!gates.adminAccess && asksForAdminAccess(requests))
    return 'admin access is requested, but the feature is disabled'
  if (
    !gates.prioritizedList &&
    requests.some(({ firstAvailable = [] }) => firstAvailable.length > 0)
  )
    return 'template includes a prioritized list of subrequests, but the feature is disabled'
  return undefined
}

type Requests = NonNullable<NonNullable<ResourceClaim['spec']['devices']>['requests']>

export function asksForAdminAccess(requests: Requests = []): boolean {
  return requests.some(({ exactly }) => exactly?.adminAccess === true)
}
