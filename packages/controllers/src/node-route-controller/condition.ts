/** Whether a node can be reached by its routes. Contract: docs/behaviour/controllers/node-route-controller.md, Status and conditions. */
import { findCondition, resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import { formatTime } from '@gyropilot/foundation'
import { currentTimeMs, patch, wait, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { Action } from './plan.ts'

const TRIES = 5
const PAUSE_MS = 100
const NETWORK_UNAVAILABLE = 'NetworkUnavailable'

/** Undefined: the condition is none of ours. */
export function hasItsRoutes(
  actions: ReadonlyMap<string, Action> | undefined,
  wasRouted: boolean,
): boolean | undefined {
  if (actions === undefined) return wasRouted ? false : undefined
  return [...actions.values()].every((action) => action === 'keep')
}

/** A condition that says so already is not refreshed. Answers the error, if there was one. */
export function* writeCondition(node: Node, isRouted: boolean): Reconcile<unknown> {
  const wanted = isRouted
    ? { status: 'False', reason: 'RouteCreated', message: 'RouteController created a route' }
    : {
        status: 'True',
        reason: 'NoRouteCreated',
        message: 'RouteController failed to create a route',
      }
  const current = findCondition(node.status?.conditions, NETWORK_UNAVAILABLE)
  if (current?.status === wanted.status && current.reason === wanted.reason) return undefined
  for (let attempt = 1; ; attempt++) {
    const now = formatTime(yield* currentTimeMs())
    const times = { lastHeartbeatTime: now, lastTransitionTime: now }
    const conditions = [{ type: NETWORK_UNAVAILABLE, ...wanted, ...times }]
    const change = { type: 'strategic' as const, value: { status: { conditions } } }
    const written = yield* write(patch(resources.nodes, node, change, 'status'))
    if (written.ok) return undefined
    if (!isConflict(written.error) || attempt === TRIES) return written.error
    yield* wait(PAUSE_MS)
  }
}
