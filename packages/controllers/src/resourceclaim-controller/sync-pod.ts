/** One sync of a pod. Step numbers are those of docs/behaviour/controllers/resourceclaim-controller.md, pod key. */
import {
  isClaimFor,
  isPodFinished,
  isReservedFor,
  isTerminating,
  keyOf,
  podClaimName,
  resources,
} from '@gyropilot/api'
import type {
  Pod,
  PodResourceClaim,
  PodResourceClaimStatus,
  ResourceClaim,
  ResourceClaimTemplate,
} from '@gyropilot/api'
import { isNotFound, isTimeout, statusErrorIn } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import { apply, create, currentTimeMs, getLive, listLive, updateStatus } from '@gyropilot/runtime'
import { recordEvent, write } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { FIELD_MANAGER } from './config.ts'
import type { TemplateGates } from './config.ts'
import type { OnCreated } from './metrics.ts'
import { claimFromTemplate, templateProblem } from './new-claim.ts'
import { isMadeFor } from './own-creates.ts'
import type { OwnCreates } from './own-creates.ts'
import { wantsReservations } from './pod-state.ts'

export interface ObservedPod {
  readonly kind: 'pod'
  readonly pod: Pod
  claimNamed(name: string): ResourceClaim | undefined
  templateNamed(name: string): ResourceClaimTemplate | undefined
  /** Cached claims that the pod controls. */
  ownClaims(): readonly ResourceClaim[]
}

/** What a sync of a pod has beside what it sees. */
export interface PodTools {
  readonly gates: TemplateGates
  readonly ownCreates: OwnCreates
  readonly onCreated: OnCreated
}

type Failure = { readonly error: Error }
/** Undefined name: the entry needs no claim. */
type Entry = { readonly name: string | undefined; readonly isNew: boolean }

export function* syncPod(observed: ObservedPod, tools: PodTools): Reconcile {
  const { pod } = observed
  // 1.
  if (isTerminating(pod)) return
  // 2.
  const generated = new Map<string, Entry>()
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const ensured = yield* ensureClaim(observed, entry, tools)
    if (ensured === undefined) continue
    if ('error' in ensured) {
      const message = `PodResourceClaim ${entry.name}: ${ensured.error.message}`
      yield* recordEvent(pod, 'Warning', 'FailedResourceClaimCreation', message)
      return ensured
    }
    generated.set(entry.name, ensured)
  }
  // 3.
  if ([...generated.values()].some(({ isNew }) => isNew)) {
    const applied = yield* write(recorded(pod, generated))
    if (!applied.ok) return { error: applied.error }
  }
  // 4.
  if (wantsReservations(pod)) return yield* reserve(observed, generated)
}

/** Undefined: a claim that the user makes. */
function* ensureClaim(
  { pod, claimNamed, templateNamed, ownClaims }: ObservedPod,
  entry: PodResourceClaim,
  tools: PodTools,
): Reconcile<Entry | Failure | undefined> {
  const resolved = podClaimName(pod, entry)
  if (resolved.state === 'not-needed') return { name: undefined, isNew: false }
  if (resolved.state === 'named') {
    if (!resolved.isGenerated) return undefined
    const known = claimNamed(resolved.name)
    const isRight = known !== undefined && isClaimFor(known, pod)
    // Of a pod that is over the claim is gone because it is over: another one would only go, too.
    if (isRight || isPodFinished(pod)) return { name: resolved.name, isNew: false }
  }
  const templateName = entry.resourceClaimTemplateName
  if (templateName === undefined)
    return resolved.state === 'unresolved' ? { error: new Error(resolved.problem) } : undefined
  const cached = ownClaims().find((claim) => isMadeFor(claim, pod, entry.name))
  const found = cached ?? (yield* findOutsideCache(pod, entry.name, tools.ownCreates))
  if (found instanceof Error) return { error: found }
  if (found !== undefined) return { name: found.metadata?.name ?? '', isNew: true }
  const template = templateNamed(templateName)
  if (template === undefined) return { error: noTemplate(templateName) }
  const problem = templateProblem(template, tools.gates)
  if (problem !== undefined) return { error: new Error(problem) }
  return yield* createClaim(pod, entry.name, template, tools)
}

/** What this process made lately, looked up live: it may be deleted again, which a gap in the watch can hide. */
function* findOutsideCache(
  pod: Pod,
  entry: string,
  ownCreates: OwnCreates,
): Reconcile<ResourceClaim | Error | undefined> {
  const { uid = '', namespace } = pod.metadata ?? {}
  if (ownCreates.isDoubted(uid, entry)) {
    const listed = yield* listLive(resources.resourceclaims, namespace)
    if (!listed.ok) return asError(listed.error)
    ownCreates.resolveDoubt(uid, entry)
    return listed.object.items.find((claim) => isMadeFor(claim, pod, entry))
  }
  const remembered = ownCreates.find(pod, entry, yield* currentTimeMs())
  if (remembered === undefined) return undefined
  const name = remembered.metadata?.name ?? ''
  const live = yield* getLive(resources.resourceclaims, namespace, name)
  if (live.ok && isMadeFor(live.object, pod, entry)) return live.object
  if (!live.ok && !isNotFound(live.error)) return asError(live.error)
  ownCreates.forget(keyOf(remembered))
  return undefined
}

function* createClaim(
  pod: Pod,
  entry: string,
  template: ResourceClaimTemplate,
  { ownCreates, onCreated }: PodTools,
): Reconcile<Entry | Failure> {
  const claim = claimFromTemplate(pod, entry, template)
  const created = yield* write(create(resources.resourceclaims, claim))
  onCreated(claim, created.ok)
  if (!created.ok) {
    if (!hasAnswer(created.error)) ownCreates.doubt(pod.metadata?.uid ?? '', entry)
    const text = `create ResourceClaim : ${errorText(created.error)}`
    return { error: new Error(text, { cause: created.error }) }
  }
  ownCreates.remember(created.object, yield* currentTimeMs())
  return { name: created.object.metadata?.name ?? '', isNew: true }
}

/**
 * All entries from templates, also those that are recorded already: what an applied object leaves out, the server takes away.
 * The uid refuses a successor of the same name.
 */
function recorded({ metadata }: Pod, generated: ReadonlyMap<string, Entry>) {
  const { name, namespace, uid } = metadata ?? {}
  const resourceClaimStatuses = [...generated].map(
    ([entry, { name: resourceClaimName }]): PodResourceClaimStatus =>
      resourceClaimName === undefined ? { name: entry } : { name: entry, resourceClaimName },
  )
  const object: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid },
    status: { resourceClaimStatuses },
  }
  return apply(resources.pods, object, FIELD_MANAGER, 'status')
}

/** 5. The scheduler reserves; this is for pods that came to their node without it. */
function* reserve(
  { pod, claimNamed }: ObservedPod,
  generated: ReadonlyMap<string, Entry>,
): Reconcile<Verdict | void> {
  const { uid = '', name: podName = '' } = pod.metadata ?? {}
  for (const entry of pod.spec?.resourceClaims ?? []) {
    const isGenerated = generated.has(entry.name)
    const name = isGenerated ? generated.get(entry.name)?.name : entry.resourceClaimName
    if (name === undefined) {
      const resolved = podClaimName(pod, entry)
      if (resolved.state === 'unresolved') return { error: new Error(resolved.problem) }
      continue
    }
    const claim = claimNamed(name)
    if (claim === undefined) return
    if (isGenerated && !isClaimFor(claim, pod)) return { error: notOurs(claim, pod) }
    if (claim.status?.allocation === undefined || isReservedFor(claim, pod)) continue
    const consumer = { resource: 'pods', name: podName, uid }
    const reservedFor = [...(claim.status.reservedFor ?? []), consumer]
    const status = { ...claim.status, reservedFor }
    const reserved = yield* write(updateStatus(resources.resourceclaims, { ...claim, status }))
    if (!reserved.ok) return { error: reserved.error }
  }
}

function noTemplate(name: string): Error {
  return new Error(
    `resource claim template "${name}": resourceclaimtemplate.resource.k8s.io "${name}" not found`,
  )
}

function notOurs(claim: ResourceClaim, pod: Pod): Error {
  return new Error(
    `ResourceClaim ${keyOf(claim)} was not created for pod ${keyOf(pod)} (pod is not owner)`,
  )
}

/** False: whatever was asked for may have been done. */
function hasAnswer(error: unknown): boolean {
  return statusErrorIn(error) !== undefined && !isTimeout(error)
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
