/**
 * How often metadata is looked at: by the server, the same for all kinds, and by the kind's own rules, each in its way. An error is told once,
 * but stands among the causes as often as it was found. Contract: docs/behaviour/api-server/defaulting-and-validation.md, Metadata.
 */
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import type { Stored } from '@gyropilot/schema/objects'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { pathCharacters, pathSegment } from '@gyropilot/schema/validation/names'
import {
  nameCheckOf,
  refuseUnknownFinalizers,
  validateCommonMetadata,
  validateMetadata,
  validateMetadataUpdate,
} from '@gyropilot/schema/validation/metadata'
import type { ServedResource } from './resource-registry.ts'

/** What the rules of a kind look at when an object is updated: its change, the whole of it. */
type Look = 'change' | 'whole'

const KINDS_BY_LOOKS: readonly (readonly [looks: readonly Look[], kinds: string])[] = [
  [[], 'PodDisruptionBudget StorageVersion'],
  [
    ['whole'],
    `LimitRange CSINode VolumeAttachment EndpointSlice FlowSchema PriorityLevelConfiguration ValidatingWebhookConfiguration
    MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy
    MutatingAdmissionPolicyBinding`,
  ],
  [
    ['change', 'whole'],
    `ControllerRevision Ingress IngressClass ConfigMap Secret PersistentVolumeClaim ServiceAccount Endpoints VolumeAttributesClass
    APIService Pod`,
  ],
  [
    ['whole', 'change'],
    `Job IPAddress Namespace Node StorageClass CSIStorageCapacity Role ClusterRole RoleBinding ClusterRoleBinding DeviceClass
    ResourceClaim ResourceClaimTemplate RuntimeClass CertificateSigningRequest ClusterTrustBundle
    StorageVersionMigration`,
  ],
  [['whole', 'whole'], 'PersistentVolume'],
]
const LOOKS: ReadonlyMap<string, readonly Look[]> = new Map(
  KINDS_BY_LOOKS.flatMap(([looks, kinds]) =>
    kinds.split(/\s+/).map((kind) => [kind, looks] as const),
  ),
)
const MOST_KINDS: readonly Look[] = ['change']
/** Kinds whose writes of the status are not looked at, though those of the object are. */
const STATUSES_WITHOUT_LOOK = new Set(['CronJob', 'ValidatingAdmissionPolicy'])
/** Subresources with rules of their own; the others are judged as the object is, and so is every one of a CertificateSigningRequest. */
const WITH_OWN_RULES = new Set(['status', 'finalize'])

function looksOf({ custom, info }: ServedResource, subresource = ''): readonly Look[] {
  if (custom) return MOST_KINDS
  if (isCoreEvent(info)) return []
  const looks = LOOKS.get(info.kind) ?? MOST_KINDS
  if (!WITH_OWN_RULES.has(subresource) || info.kind === 'CertificateSigningRequest') return looks
  if (STATUSES_WITHOUT_LOOK.has(info.kind)) return []
  return looks.includes('change') || info.kind === 'PersistentVolume' ? ['change'] : looks
}

/** Events of the older form. */
function isCoreEvent({ group, kind }: ServedResource['info']): boolean {
  return group === '' && kind === 'Event'
}

export function checkNewMetadata(
  resource: ServedResource,
  object: Stored,
  errors: FieldErrors,
): void {
  const check = nameCheckOf(resource.rules)
  const { info } = resource
  // Their rules ask nothing more of finalizers.
  const judge = isCoreEvent(info) ? validateCommonMetadata : validateMetadata
  judge(object, info.namespaced, check, errors)
}

/** What the server asks of names that the kind's own rules do not judge, once they have found nothing else. */
export function checkNamesLast({ metadata }: Stored, errors: FieldErrors): void {
  const prefix: string | undefined = metadata?.generateName
  if (prefix) invalidAll(errors, 'metadata.generateName', prefix, pathCharacters(prefix))
  invalidAll(errors, 'metadata.name', metadata?.name, pathSegment(metadata?.name ?? ''))
}

/** Rules that leave metadata out are asked first, and their errors alone are told. */
export function checksMetadataLast(resource: ServedResource): boolean {
  return looksOf(resource).length === 0
}

/**
 * Looks at once, and returns what looks once more when the first half of the kind's own rules has been asked: each half looks at the
 * metadata for itself where it begins.
 */
export function checkChangedMetadata(
  resource: ServedResource,
  object: Stored,
  stored: Stored,
  errors: FieldErrors,
  subresource: string,
): () => void {
  const { namespaced } = resource.info
  const check = nameCheckOf(resource.rules)
  // A name that is stored is judged as a part of a path only.
  validateCommonMetadata(object, namespaced, nameCheckOf({ name: 'path-segment' }), errors)
  validateMetadataUpdate(object, stored, errors)
  const take = (looks: readonly Look[]): void => {
    for (const look of looks) {
      if (look === 'whole') validateMetadata(object, namespaced, check, errors)
      else {
        validateMetadataUpdate(object, stored, errors)
        refuseUnknownFinalizers(object, errors)
      }
    }
  }
  const looks = looksOf(resource, subresource)
  const halves = isLookedAtByHalves(resource, looks) ? 1 : looks.length
  take(looks.slice(0, halves))
  return () => take(looks.slice(halves))
}

function isLookedAtByHalves(
  { rules: { updateOrder = 'validate-first' } }: ServedResource,
  looks: readonly Look[],
): boolean {
  if (updateOrder === 'validate-first') return looks.length === 2 && looks[0] === 'whole'
  return updateOrder === 'update-first' && looks.join() === 'change,whole'
}
