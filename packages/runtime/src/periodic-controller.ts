import type { KubernetesObject } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import type { ControllerContext, RunnableController } from './controller.ts'
import { InterruptedByShutdown, interpret } from './effects-interpreter.ts'
import type { PerformOutside } from './effects-interpreter.ts'
import type { Reconcile } from './effects.ts'
import type { Informer } from './informer.ts'

/** A controller that looks at everything now and then, without keys and without a queue. */
export interface PeriodicController {
  /** From the end of one round to the beginning of the next. */
  readonly periodMs: number
  /** The source component of events. Default: the controller's name. */
  readonly eventComponent?: string
  /** Caches that must be filled before the first round, which then begins at once. */
  readonly caches: readonly Informer<KubernetesObject>[]
  /** For rules that call what is not the API server. */
  readonly outside?: PerformOutside
  /** One round. What fails in it is the rules' to log and waits for the next one. */
  round(): Reconcile<void>
}

/** The shell of periodic controllers. Rules that throw are a defect: logged, and the next round comes at its time. */
export function runPeriodicController(
  logic: PeriodicController,
  context: ControllerContext,
): RunnableController {
  const { client, clock, logger, name, trace } = context
  const recorder = context.recorder(logic.eventComponent ?? name)

  async function round(signal: AbortSignal): Promise<void> {
    trace?.started(name, '', [])
    try {
      await interpret(logic.round(), {
        client,
        clock,
        recordEvent: (event) => recorder.record(event),
        signal,
        outside: logic.outside,
        onEffect: trace && ((effect, outcome) => trace.effect(name, '', effect, outcome)),
      })
    } catch (error) {
      if (error instanceof InterruptedByShutdown) return
      logger.error(error, 'The rules failed', { controller: name })
    } finally {
      trace?.finished(name, '', {})
    }
  }

  return {
    async run(signal) {
      const synced = await Promise.all(logic.caches.map((cache) => cache.whenSynced(signal)))
      if (!synced.every((done) => done)) return
      while (!signal.aborted) {
        await round(signal)
        await sleep(clock, logic.periodMs, signal).catch(() => {})
      }
    },
  }
}
