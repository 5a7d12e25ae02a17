import type { Reconcile } from '../effects.ts'
import { InterruptedByShutdown, interpret } from '../effects-interpreter.ts'
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

/** Makes a reconciler of rules. */
export function reconcileByRules<Observed>({ observe, reconcile }: Rules<Observed>): Reconciler {
  return async (request, context) => {
    const observed = await observe(request, context)
    if (observed === undefined) return undefined
    const { live, clock, signal, events } = context
    try {
      return await interpret(reconcile(observed), {
        client: live,
        clock,
        signal,
        recordEvent: (event) => events.record(event),
      })
    } catch (error) {
      throw error instanceof InterruptedByShutdown ? signal.reason : error
    }
  }
}
