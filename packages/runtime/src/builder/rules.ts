import type { Reconcile } from '../effects.ts'
import { InterruptedByShutdown, interpret } from '../effects-interpreter.ts'
import type { World } from '../effects-interpreter.ts'
import type { ReconcileContext, Reconciler, Result } from './reconciler.ts'
import type { Request } from './request.ts'

/** A reconciler in two halves: one that reads, and one that decides and can be tested without a world. */
export interface Rules<Observed> {
  /** Gathers what the rules need. Undefined: the object is gone, nothing to do. */
  observe(
    request: Request,
    context: ReconcileContext,
  ): Observed | undefined | Promise<Observed | undefined>
  /** Yields effects and is handed their outcomes (effects.ts); `drive` of ./testing runs it. What it throws is a defect. */
  reconcile(observed: Observed): Reconcile<Result | void>
}

/**
 * Of effects that need more than a server and a clock. Rules whose batches carry expectations: `observe` asks whether those of
 * the key are satisfied, and mappings of events tell what has come.
 */
export type RulesOptions = Pick<World, 'expectations' | 'mapper' | 'outside'>

/** Makes a reconciler of rules. */
export function reconcileByRules<Observed>(
  { observe, reconcile }: Rules<Observed>,
  { expectations, mapper, outside }: RulesOptions = {},
): Reconciler {
  return async (request, context) => {
    const observed = await observe(request, context)
    if (observed === undefined) return undefined
    const { live, clock, signal, events } = context
    try {
      return await interpret(reconcile(observed), {
        client: live,
        clock,
        signal,
        ...(expectations && { expectations }),
        ...(mapper && { mapper }),
        ...(outside && { outside }),
        recordEvent: (event) => events.record(event),
      })
    } catch (error) {
      throw error instanceof InterruptedByShutdown ? signal.reason : error
    }
  }
}
