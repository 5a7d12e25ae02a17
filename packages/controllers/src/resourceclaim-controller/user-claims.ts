/**
 * The claims of a pod or a PodGroup: found, or made from their templates, and recorded in its status.
 * Contract: docs/behaviour/controllers/resourceclaim-controller.md, pod key, steps 2 and 3.
 */
import { apiVersionOf, isClaimFor, keyOf, podClaimName, resources } from '@gyropilot/api'
import type {
  ClaimUser,
  PodResourceClaim,
  PodResourceClaimStatus,
  ResourceClaim,
  ResourceClaimTemplate,
} from '@gyropilot/api'
import { isNotFound, isTimeout, statusErrorIn } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import { apply, create, currentTimeMs, getLive, listLive } from '@gyropilot/runtime'
import { recordEvent, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { Entry, ObservedUser } from './claim-users.ts'
import { FIELD_MANAGER } from './config.ts'
import type { TemplateGates } from './config.ts'
import type { OnCreated } from './metrics.ts'
import { claimFromTemplate, templateProblem } from './new-claim.ts'
import { isMadeFor } from './own-creates.ts'
import type { OwnCreates } from './own-creates.ts'

/** What a sync of who names claims has beside what it sees. */
export interface ClaimTools {
  readonly gates: TemplateGates
  readonly ownCreates: OwnCreates
  readonly onCreated: OnCreated
}

type Failure = { readonly error: Error }
/** By the names of the entries. */
export type Claims = ReadonlyMap<string, Entry>

/** Every entry that has or needs a claim of a template, or the first that failed, of which an event tells. */
export function* ensureClaims(
  { type, user }: Pick<ObservedUser, 'type' | 'user'>,
  ensure: (entry: PodResourceClaim) => Reconcile<Entry | Failure | undefined>,
): Reconcile<Claims | Failure> {
  const claims = new Map<string, Entry>()
  for (const entry of user.spec?.resourceClaims ?? []) {
    const ensured = yield* ensure(entry)
    if (ensured === undefined) continue
    if ('error' in ensured) {
      const message = `${type.kind}ResourceClaim ${entry.name}: ${ensured.error.message}`
      yield* recordEvent(user, 'Warning', 'FailedResourceClaimCreation', message)
      return ensured
    }
    claims.set(entry.name, ensured)
  }
  return claims
}

/** Undefined: a claim that somebody else makes. */
export function* ensureClaim(
  observed: ObservedUser,
  entry: PodResourceClaim,
  tools: ClaimTools,
): Reconcile<Entry | Failure | undefined> {
  const { user, claimNamed, templateNamed, ownClaims } = observed
  const resolved = podClaimName(user, entry)
  if (resolved.state === 'not-needed') return { name: undefined, isNew: false }
  if (resolved.state === 'named') {
    if (!resolved.isGenerated) return undefined
    const known = claimNamed(resolved.name)
    const isRight = known !== undefined && isClaimFor(known, user)
    // Of a pod that is over the claim is gone because it is over: another one would only go, too.
    if (isRight || observed.isOver) return { name: resolved.name, isNew: false }
  }
  const templateName = entry.resourceClaimTemplateName
  if (templateName === undefined)
    return resolved.state === 'unresolved' ? { error: new Error(resolved.problem) } : undefined
  const cached = ownClaims().find((claim) => isMadeFor(claim, user, entry.name))
  const found = cached ?? (yield* findOutsideCache(user, entry.name, tools.ownCreates))
  if (found instanceof Error) return { error: found }
  if (found !== undefined) return { name: found.metadata?.name ?? '', isNew: true }
  const template = templateNamed(templateName)
  if (template === undefined) return { error: noTemplate(templateName) }
  const problem = templateProblem(template, tools.gates)
  if (problem !== undefined) return { error: new Error(problem) }
  return yield* createClaim(observed, entry.name, template, tools)
}

/** What this process made lately, looked up live: it may be deleted again, which a gap in the watch can hide. */
function* findOutsideCache(
  user: ClaimUser,
  entry: string,
  ownCreates: OwnCreates,
): Reconcile<ResourceClaim | Error | undefined> {
  const { uid = '', namespace } = user.metadata ?? {}
  if (ownCreates.isDoubted(uid, entry)) {
    const listed = yield* listLive(resources.resourceclaims, namespace)
    if (!listed.ok) return asError(listed.error)
    ownCreates.resolveDoubt(uid, entry)
    return listed.object.items.find((claim) => isMadeFor(claim, user, entry))
  }
  const remembered = ownCreates.find(user, entry, yield* currentTimeMs())
  if (remembered === undefined) return undefined
  const name = remembered.metadata?.name ?? ''
  const live = yield* getLive(resources.resourceclaims, namespace, name)
  if (live.ok && isMadeFor(live.object, user, entry)) return live.object
  if (!live.ok && !isNotFound(live.error)) return asError(live.error)
  ownCreates.forget(keyOf(remembered))
  return undefined
}

function* createClaim(
  { type, user, ownClaims }: ObservedUser,
  entry: string,
  template: ResourceClaimTemplate,
  { ownCreates, onCreated }: ClaimTools,
): Reconcile<Entry | Failure> {
  const claim = claimFromTemplate(type, user, entry, template)
  const created = yield* write(create(resources.resourceclaims, claim))
  onCreated(claim, created.ok)
  if (!created.ok) {
    if (!hasAnswer(created.error)) ownCreates.doubt(user.metadata?.uid ?? '', entry)
    const text = `create ResourceClaim : ${errorText(created.error)}`
    return { error: new Error(text, { cause: created.error }) }
  }
  // The watch may be faster than the answer: nothing would tell then that the cache has it.
  const { uid } = created.object.metadata ?? {}
  if (!ownClaims().some(({ metadata }) => metadata?.uid === uid))
    ownCreates.remember(created.object, user, yield* currentTimeMs())
  return { name: created.object.metadata?.name ?? '', isNew: true }
}

/**
 * Writes the status where something is new. It has all entries from templates, also those that are recorded already: what an
 * applied object leaves out, the server takes away. The uid refuses a successor of the same name. Answers the error.
 */
export function* recordClaims(
  { type, user: { metadata } }: Pick<ObservedUser, 'type' | 'user'>,
  claims: Claims,
): Reconcile<unknown> {
  if (![...claims.values()].some(({ isNew }) => isNew)) return undefined
  const { name, namespace, uid } = metadata ?? {}
  const resourceClaimStatuses = [...claims].map(
    ([entry, { name: resourceClaimName }]): PodResourceClaimStatus =>
      resourceClaimName === undefined ? { name: entry } : { name: entry, resourceClaimName },
  )
  const object: ClaimUser = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: { name, namespace, uid },
    status: { resourceClaimStatuses },
  }
  const applied = yield* write(apply(type, object, FIELD_MANAGER, 'status'))
  return applied.ok ? undefined : applied.error
}

function noTemplate(name: string): Error {
  return new Error(
    `resource claim template "${name}": resourceclaimtemplate.resource.k8s.io "${name}" not found`,
  )
}

/** False: whatever was asked for may have been done. */
function hasAnswer(error: unknown): boolean {
  return statusErrorIn(error) !== undefined && !isTimeout(error)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
