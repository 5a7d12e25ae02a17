/**
 * The claims of one namespace that wait, one after the other. Step numbers are those of
 * docs/behaviour/controllers/persistentvolumeclaim-protection-controller.md, Sync.
 */
import { isTerminating, resources } from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { listLive } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { isHeld, needsProtection, protect, release } from '../protection-support/protection.ts'
import { aggregateErrors } from '../workload-support/aggregate-error.ts'
import type { Batches } from './batches.ts'
import { refersTo, uses } from './claim-use.ts'
import { CATCH_UP_MS, FINALIZER } from './config.ts'
import { tellUse } from './unused-condition.ts'

export interface ObservedBatch {
  readonly namespace: string
  /** That are due, those that are gone left out. */
  readonly claims: readonly PersistentVolumeClaim[]
  /** By the cache. */
  podsUsing(claim: PersistentVolumeClaim): readonly Pod[]
}

interface BatchSettings {
  /** Feature gate PersistentVolumeClaimUnusedSinceTime. */
  readonly tellsUnused: boolean
  readonly batches: Batches
  /** Looks at the namespace again, whatever becomes of its own retry. */
  wake(namespace: string, afterMs: number): void
}

export function* reconcile(observed: ObservedBatch, settings: BatchSettings): Reconcile {
  const pods = new NamespacePods(observed.namespace)
  const { batches } = settings
  const errors: unknown[] = []
  for (const claim of observed.claims) {
    const { namespace = '', name = '' } = claim.metadata ?? {}
    batches.begin(namespace, name)
    const { error, requeueAfterMs } = yield* verdictOf(claim, observed, pods, settings)
    if (error !== undefined) {
      batches.failed(namespace, name)
      errors.push(error)
    } else if (requeueAfterMs === undefined) batches.succeeded(namespace, name)
    else batches.again(namespace, name, requeueAfterMs)
  }
  const nextInMs = batches.nextInMs(observed.namespace)
  if (nextInMs !== undefined) settings.wake(observed.namespace, nextInMs)
  if (errors.length > 0) return { error: aggregateErrors(errors) }
}

/** Rules that throw do so for this claim alone. */
function* verdictOf(...given: Parameters<typeof reconcileClaim>): Reconcile<Verdict> {
  try {
    return (yield* reconcileClaim(...given)) ?? {}
  } catch (error) {
    return { error }
  }
}

function* reconcileClaim(
  cached: PersistentVolumeClaim,
  { podsUsing }: ObservedBatch,
  pods: NamespacePods,
  { tellsUnused }: BatchSettings,
): Reconcile {
  let claim = cached
  if (tellsUnused && !isTerminating(claim)) {
    const told = yield* tellUse(
      claim,
      podsUsing(claim).some((pod) => refersTo(pod, cached)),
    )
    if (!told.ok) return { error: told.error }
    claim = told.object
  }
  // 2.
  if (isHeld(claim, FINALIZER)) {
    if (podsUsing(claim).some((pod) => uses(pod, claim))) return
    const listed = yield* pods.list()
    if ('error' in listed) return listed
    // The cache does not have that pod, or has it no more: which of them is behind is seen later.
    if (listed.pods.some((pod) => uses(pod, claim))) return { requeueAfterMs: CATCH_UP_MS }
    return yield* release(resources.persistentvolumeclaims, claim, FINALIZER)
  }
  // 3.
  if (!needsProtection(claim, FINALIZER)) return
  return yield* protect(resources.persistentvolumeclaims, claim, FINALIZER)
}

/** The pods of a namespace as the server has them: asked for once, when somebody first needs them. */
class NamespacePods {
  readonly #namespace: string
  #listed: readonly Pod[] | undefined

  constructor(namespace: string) {
    this.#namespace = namespace
  }

  /** The error is told only to who asked; the next one asks again. */
  *list(): Reconcile<{ readonly pods: readonly Pod[] } | { readonly error: unknown }> {
    if (this.#listed === undefined) {
      const listed = yield* listLive(resources.pods, this.#namespace)
      if (!listed.ok) return { error: listed.error }
      this.#listed = listed.object.items
    }
    return { pods: this.#listed }
  }
}
