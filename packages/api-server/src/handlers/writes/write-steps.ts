/** The steps that creations and updates share. Contract: docs/behaviour/api-server/requests.md, "Order of checks" 12-15. */
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { foreignNamespace } from '../../http/errors.ts'
import type { AdmissionRequest } from '../../contracts.ts'
import type { RuleContext } from '../../registry/kind-rules.ts'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../../registry/resource-registry.ts'
import type { Store } from '../../storage/store.ts'
import type { AdmissionChain } from './admission-chain.ts'
import type { Allocations } from './allocations.ts'
import type { FieldManagement } from '../../field-management/field-management-call.ts'
import { deduplicateOwners, keepManagedFields } from './write-checks.ts'
import type { Target, UpdateRequest, WriteContext } from './writes.ts'

/** What writing takes. */
export interface WriteParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: RandomSource
  readonly admission: AdmissionChain
  readonly allocations: Allocations
  readonly fields: FieldManagement
  readonly featureEnabled: (gate: string) => boolean
}

/** Lets admission change what is to be written, as far as it may. */
export async function mutate(
  parts: Pick<WriteParts, 'admission'>,
  request: AdmissionRequest,
  target: Target,
  draft: Draft,
  context: WriteContext,
  view?: UpdateRequest['admissionView'],
): Promise<void> {
  const { managedFields } = draft['metadata']
  await parts.admission.mutate(request)
  view?.into(draft, request.object!)
  keepManagedFields(managedFields, (draft['metadata'] ??= {}), context)
  deduplicateOwners(draft['metadata'], context, 'admitted')
  keepNamespace(target, draft)
}

export function fieldsCall(
  parts: Pick<WriteParts, 'clock'>,
  target: Target,
  before: Stored | undefined,
  draft: Draft,
  context: WriteContext,
) {
  const { resource, subresource } = target
  return {
    resource,
    subresource,
    before,
    draft,
    manager: context.manager!,
    nowMs: parts.clock.nowMs(),
    warn: context.warn,
  }
}

export function ruleContext(
  { clock, featureEnabled, store }: Pick<WriteParts, 'clock' | 'featureEnabled' | 'store'>,
  { user, warn }: WriteContext,
  { subresource, namespace }: Target,
): RuleContext {
  return {
    namespaceLabels: () =>
      store.get({ collection: 'namespaces', key: namespace })?.object.metadata?.labels,
    nowMs: clock.nowMs(),
    userName: user.name,
    user,
    featureEnabled,
    warn,
    ...(subresource === '' ? {} : { subresource }),
  }
}

/** Admission may have taken the namespace away, but not have put another in its place. Throws ApiError. */
function keepNamespace({ resource, namespace }: Target, draft: Draft): void {
  if (!resource.info.namespaced) return
  const metadata = (draft['metadata'] ??= {}) as Draft
  if ((metadata['namespace'] ||= namespace) !== namespace) throw foreignNamespace()
}

/** Kinds that are kept in another version get their defaults after the conversion: their rules know only that form. */
export function storedDraft({ storage, rules }: ServedResource, draft: Draft): Draft {
  if (storage.toStored === undefined) return draft
  const converted = storage.toStored(draft)
  rules.defaults?.(converted)
  return converted
}

export function servedView({ storage }: ServedResource, object: Stored): Stored {
  // Drafts that a webhook will convert are in the served version to the end.
  if (storage.conversion !== undefined) return object
  return storage.fromStored?.(object) ?? object
}

export function warn(texts: readonly string[] | undefined, context: WriteContext): void {
  for (const text of texts ?? []) context.warn(text)
}

/** The version stands beside uid and generation, where the real server writes it. */
export function withVersion(object: Stored, revision: number | string): Stored {
  return { ...object, metadata: { ...object['metadata'], resourceVersion: String(revision) } }
}
