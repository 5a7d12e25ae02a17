/**
 * Subresources whose body is the object itself: each takes one part from the request and the rest from the store.
 * Contract: docs/behaviour/api-server/defaulting-and-validation.md, "Status subresources", and subresources-and-admission.md.
 */
import { setOwn } from '@gyropilot/api'
import { keep } from './kept-field.ts'
import type { KindRules, RuleContext, SubresourceRules } from './kind-rules.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from './resource-registry.ts'

/** Kinds whose status subresource, as those of custom resources, changes nothing of metadata but managedFields. */
const METADATA_KEPT = new Set([
  'FlowSchema.flowcontrol.apiserver.k8s.io',
  'PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io',
])

const WHAT_PEOPLE_SAY = ['labels', 'annotations', 'finalizers', 'ownerReferences']
const WHAT_CHANGES = [...WHAT_PEOPLE_SAY, 'deletionTimestamp', 'generation', 'selfLink']

/** Kinds whose status subresource leaves these fields of metadata as they are, and judges what is said of others. */
const METADATA_FIELDS_KEPT: Readonly<Record<string, readonly string[]>> = {
  'VolumeAttachment.storage.k8s.io': WHAT_CHANGES,
  'ValidatingAdmissionPolicy.admissionregistration.k8s.io': WHAT_CHANGES,
  'ServiceCIDR.networking.k8s.io': WHAT_CHANGES,
  'ResourceClaim.resource.k8s.io': WHAT_CHANGES,
  'DeviceTaintRule.resource.k8s.io': WHAT_CHANGES,
  'ResourcePoolStatusRequest.resource.k8s.io': WHAT_CHANGES,
  'PodGroup.scheduling.k8s.io': WHAT_CHANGES,
  'StorageVersion.internal.apiserver.k8s.io': WHAT_CHANGES,
  'PodCertificateRequest.certificates.k8s.io': WHAT_CHANGES,
  'APIService.apiregistration.k8s.io': WHAT_PEOPLE_SAY,
}

export function prepareSubresource(
  resource: ServedResource,
  draft: Draft,
  stored: Stored,
  context: RuleContext,
): void {
  const { rules, info } = resource
  const subresource = context.subresource ?? ''
  if (subresource === 'status') {
    keepOnly(draft, stored, ['status'])
    const name = `${info.kind}.${info.group}`
    if (resource.custom || METADATA_KEPT.has(name)) keepMetadata(draft, stored)
    for (const field of METADATA_FIELDS_KEPT[name] ?? [])
      keep(draft['metadata'], stored['metadata'], field)
    rules.status?.prepareForUpdate?.(draft, stored, context)
    return
  }
  const own = rules.subresources?.[subresource]
  if (own?.prepareForUpdate !== undefined) own.prepareForUpdate(draft, stored, context)
  else if (subresource === 'finalize') {
    const finalizers = draft['spec']?.finalizers
    keepOnly(draft, stored, [])
    draft['spec'] = { ...stored['spec'], finalizers }
    if (finalizers === undefined || finalizers === null || finalizers.length === 0)
      delete draft['spec'].finalizers
  }
}

/** Whether a PUT of what is missing creates it. */
export function putCreates({ rules }: ServedResource, subresource: string): boolean {
  if (subresource === '') return rules.createOnUpdate === true
  return subresourceRules(rules, subresource)?.createOnUpdate === 'always'
}

/** Whether server-side apply of what is missing creates it. */
export function applyCreates({ rules }: ServedResource, subresource: string): boolean {
  return subresource === '' || subresourceRules(rules, subresource)?.createOnUpdate !== undefined
}

function subresourceRules(rules: KindRules, subresource: string): SubresourceRules | undefined {
  return subresource === 'status' ? rules.status : rules.subresources?.[subresource]
}

/** Everything but metadata and these fields is as stored. */
function keepOnly(draft: Draft, stored: Stored, fields: readonly string[]): void {
  for (const key of Object.keys(draft)) {
    if (key !== 'metadata' && !fields.includes(key) && !Object.hasOwn(stored, key))
      delete draft[key]
  }
  for (const key of Object.keys(stored)) {
    if (key !== 'metadata' && !fields.includes(key)) setOwn(draft, key, stored[key])
  }
}

function keepMetadata(draft: Draft, stored: Stored): void {
  const { managedFields, resourceVersion } = draft['metadata']
  draft['metadata'] = { ...stored['metadata'], resourceVersion }
  if (managedFields === undefined) delete draft['metadata'].managedFields
  else draft['metadata'].managedFields = managedFields
}
