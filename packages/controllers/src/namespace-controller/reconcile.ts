/** One sync of a namespace. Step numbers are those of docs/behaviour/controllers/namespace-controller.md, Sync. */
import { resources } from '@gyropilot/api'
import type { Namespace } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import { aggregateErrors } from '@gyropilot/foundation'
import { elapsedTimeMs, getLive, update, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile, WriteOf } from '@gyropilot/runtime'
import { deleteAllContent, deletePodsAhead } from './content-deletion.ts'

const FINALIZER = 'kubernetes'
const OLDER_ANSWER = 'the server answered a namespace from before its deletion'

interface Observed {
  /** As it is in the cache; the rules work on what is live. */
  readonly namespace: Namespace
  /** Of the time that passes before everything in it is looked at. */
  readonly pauseLeftMs: number
  /** Its pods are asked to go in that time. */
  readonly isLarge: boolean
}

export function* reconcile(given: Observed): Reconcile {
  const { namespace: observed, pauseLeftMs, isLarge } = given
  const startMs = yield* elapsedTimeMs()
  if (pauseLeftMs > 0 && !isLarge) return { requeueAfterMs: pauseLeftMs, keepsFailures: true }
  // 2.
  const live = yield* getLive(resources.namespaces, undefined, observed.metadata?.name ?? '')
  if (!live.ok) return isNotFound(live.error) ? undefined : { error: live.error }
  if (live.object.metadata?.deletionTimestamp === undefined) {
    return isOlder(live.object, observed) ? { error: new Error(OLDER_ANSWER) } : undefined
  }
  if (pauseLeftMs > 0) {
    yield* deletePodsAhead(live.object)
    const tookMs = (yield* elapsedTimeMs()) - startMs
    return { requeueAfterMs: Math.max(0, pauseLeftMs - tookMs), keepsFailures: true }
  }
  // 3.
  const terminating = yield* setTerminating(live.object)
  if (terminating.error !== undefined) return { error: terminating.error }
  if (terminating.namespace === undefined) return
  const namespace = terminating.namespace
  // 4.
  if ((namespace.spec?.finalizers ?? []).length === 0) return
  // 5.
  const { namespace: written, errors, estimateSeconds } = yield* deleteAllContent(namespace)
  if (errors.length > 0) return { error: aggregateErrors(errors) }
  if (estimateSeconds > 0) {
    return { requeueAfterMs: (Math.floor(estimateSeconds / 2) + 1) * 1000, keepsFailures: true }
  }
  // 6. Of what the conditions were written to: upstream takes the one from before, and meets a conflict.
  const finalized = yield* untilNoConflict(written, finalizeWrite)
  return finalized.error === undefined ? undefined : { error: finalized.error }
}

/** One namespace is never less deleted than it was: the server that answered lags behind the one that is watched. */
function isOlder(live: Namespace, observed: Namespace): boolean {
  return (
    live.metadata?.uid === observed.metadata?.uid &&
    observed.metadata?.deletionTimestamp !== undefined
  )
}

interface Step {
  /** Undefined: the namespace is gone. */
  readonly namespace?: Namespace
  readonly error?: unknown
}

function* setTerminating(namespace: Namespace): Reconcile<Step> {
  if (namespace.status?.phase === 'Terminating') return { namespace }
  return yield* untilNoConflict(namespace, (current) =>
    current.status?.phase === 'Terminating'
      ? undefined
      : updateStatus(resources.namespaces, {
          ...current,
          status: { ...current.status, phase: 'Terminating' },
        }),
  )
}

function finalizeWrite(namespace: Namespace): WriteOf<Namespace> {
  const others = (namespace.spec?.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER)
  const finalizers = [...new Set(others)].toSorted()
  const released = { ...namespace, spec: { ...namespace.spec, finalizers } }
  return update(resources.namespaces, released, 'finalize')
}

/** Writes; after a conflict reads live and writes again. A namesake with another uid is never written to. */
function* untilNoConflict(
  first: Namespace,
  change: (current: Namespace) => WriteOf<Namespace> | undefined,
): Reconcile<Step> {
  let current = first
  for (;;) {
    const wanted = change(current)
    if (wanted === undefined) return { namespace: current }
    const written = yield* write(wanted)
    if (written.ok) return { namespace: written.object }
    if (isNotFound(written.error)) return {}
    if (!isConflict(written.error)) return { error: written.error }
    const live = yield* getLive(resources.namespaces, undefined, first.metadata?.name ?? '')
    if (!live.ok) return isNotFound(live.error) ? {} : { error: live.error }
    if (live.object.metadata?.uid !== first.metadata?.uid) {
      return { error: new Error(`namespace uid has changed across retries`) }
    }
    current = live.object
  }
}
