/** The taint of machines that are switched off. Contract: docs/behaviour/controllers/cloud-node-lifecycle-controller.md, Sync. */
import type { Node, Taint } from '@gyropilot/api'
import type { Reconcile } from '@gyropilot/runtime'
import { patchNode } from '../node-support/patch-node.ts'
import { SHUTDOWN_TAINT } from './config.ts'

/** Answers the error, if there was one. Costs a read where the taint is there already. */
export function* addShutdownTaint(node: Node): Reconcile<unknown> {
  return yield* patchNode(node, ({ spec }) => {
    const taints = spec?.taints ?? []
    if (taints.some((taint) => isShutdown(taint) && !taint.value)) return undefined
    const changed = taints.some(isShutdown)
      ? taints.map((taint) => (isShutdown(taint) ? SHUTDOWN_TAINT : taint))
      : [...taints, SHUTDOWN_TAINT]
    return { spec: { taints: changed } }
  })
}

/** Answers the error, if there was one. Costs nothing where the cached node has no such taint. */
export function* removeShutdownTaint(cached: Node): Reconcile<unknown> {
  if (!cached.spec?.taints?.some(isShutdown)) return undefined
  return yield* patchNode(cached, ({ spec }) => {
    const kept = (spec?.taints ?? []).filter((taint) => !isShutdown(taint))
    if (kept.length === (spec?.taints ?? []).length) return undefined
    return { spec: { taints: kept.length === 0 ? null : kept } }
  })
}

/** The same key with another effect is somebody else's. */
function isShutdown({ key, effect }: Taint): boolean {
  return key === SHUTDOWN_TAINT.key && effect === SHUTDOWN_TAINT.effect
}
