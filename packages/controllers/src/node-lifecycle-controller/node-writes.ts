/**
 * Writes of taints and labels to nodes that others write too: from what is there now, and never over a change that came between.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, Taint and label writes.
 */
import type { Node, Taint } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { patchNode } from '../node-support/patch-node.ts'
import { hasTaint } from './condition-taints.ts'

type Effect = Taint['effect']

/** Adds first, then removes; an error of the first leaves the second out. Answers the error, if there was one. */
export function* swapTaints(
  node: Node,
  effect: Effect,
  add: readonly string[],
  remove: readonly string[],
): Reconcile<unknown> {
  if (add.length > 0) {
    const timeAdded = formatTime(yield* currentTimeMs())
    const error = yield* patchNode(node, (live) => withTaints(live, effect, add, timeAdded))
    if (error !== undefined) return error
  }
  return yield* removeTaints(node, effect, remove)
}

/** Costs nothing where the cached node has none of them. */
export function* removeTaints(
  cached: Node,
  effect: Effect,
  keys: readonly string[],
): Reconcile<unknown> {
  if (!keys.some((key) => hasTaint(cached, key, effect))) return undefined
  return yield* removeLiveTaints(cached, effect, keys)
}

/** Whatever the cache shows. */
export function* removeLiveTaints(
  node: Node,
  effect: Effect,
  keys: readonly string[],
): Reconcile<unknown> {
  return yield* patchNode(node, (live) => withoutTaints(live, effect, keys))
}

export function* setLabels(
  node: Node,
  labels: Readonly<Record<string, string>>,
): Reconcile<unknown> {
  return yield* patchNode(node, () => ({ metadata: { labels } }))
}

function withTaints(
  { spec }: Node,
  effect: Effect,
  keys: readonly string[],
  timeAdded: string,
): { readonly spec: object } {
  const others = (spec?.taints ?? []).filter(
    (taint) => taint.effect !== effect || !keys.includes(taint.key),
  )
  return { spec: { taints: [...others, ...keys.map((key) => ({ key, effect, timeAdded }))] } }
}

function withoutTaints(
  { spec }: Node,
  effect: Effect,
  keys: readonly string[],
): { readonly spec: object } | undefined {
  const taints = spec?.taints ?? []
  const kept = taints.filter((taint) => taint.effect !== effect || !keys.includes(taint.key))
  if (kept.length === taints.length) return undefined
  return { spec: { taints: kept.length === 0 ? null : kept } }
}
