/**
 * Writes of taints and labels to nodes that others write too: from what is there now, and never over a change that came between.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md, Taint and label writes.
 */
import { resources } from '@gyropilot/api'
import type { Node, Taint } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, getLive, patch, wait, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { hasTaint } from './condition-taints.ts'

const TRIES = 5
const PAUSE_MS = 100

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
  return yield* patchNode(cached, (live) => withoutTaints(live, effect, keys))
}

export function* setLabels(
  node: Node,
  labels: Readonly<Record<string, string>>,
): Reconcile<unknown> {
  return yield* patchNode(node, () => ({ metadata: { labels } }))
}

/** `change` makes a patch of the live node; undefined: there is nothing to change. */
function* patchNode(
  { metadata }: Node,
  change: (live: Node) => { readonly metadata?: object; readonly spec?: object } | undefined,
): Reconcile<unknown> {
  for (let attempt = 1; ; attempt++) {
    const live = yield* getLive(resources.nodes, undefined, metadata?.name ?? '')
    if (!live.ok) return live.error
    const changes = change(live.object)
    if (changes === undefined) return undefined
    // The version refuses a patch that would undo what somebody else did since.
    const { resourceVersion } = live.object.metadata ?? {}
    const value = { ...changes, metadata: { ...changes.metadata, resourceVersion } }
    const written = yield* write(patch(resources.nodes, live.object, { type: 'strategic', value }))
    if (written.ok) return undefined
    if (!isConflict(written.error) || attempt === TRIES) return written.error
    yield* wait(PAUSE_MS)
  }
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
