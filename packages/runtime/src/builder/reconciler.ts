/** Contract: docs/behaviour/runtime/custom-controllers.md, Reconciler. */
import type { Client } from '@gyropilot/client'
import type { Clock, Logger } from '@gyropilot/foundation'
import { errorText } from '@gyropilot/foundation'
import type { EventRecorder } from '../events/event-recorder.ts'
import type { Request } from './request.ts'

/** What the queue does next. Nothing, or an empty result: wait for the next event; failures so far are forgotten. */
export interface Result {
  /** Reconcile again after this time, not rate limited; failures so far are forgotten. NaN is an error. */
  readonly requeueAfterMs?: number
  /** @deprecated Again with back-off, as after an error. Prefer an error or `requeueAfterMs`. */
  readonly requeue?: boolean
  /** Of the requeue; default: the priority that this run had. */
  readonly priority?: number
  /** The same as throwing it: everything else but the priority is ignored, with a warning. */
  readonly error?: unknown
}

/** What a reconciler is handed besides the request. */
export interface ReconcileContext {
  /** Reads from caches, writes to the API server; requests are given up when `signal` aborts. */
  readonly client: Client
  /** Reads from the API server too. */
  readonly live: Client
  /** With controller, group, kind, namespace, name and reconcileID. */
  readonly logger: Logger
  /** Aborts when the manager stops, and after ReconciliationTimeout. */
  readonly signal: AbortSignal
  readonly events: EventRecorder
  readonly clock: Clock
}

/**
 * Makes the world what the object asks for. Level based: it looks at the state, not at what happened; and idempotent: it is
 * called again after errors, restarts and resyncs. A rejection is retried with back-off, except a TerminalError.
 */
export type Reconciler = (
  request: Request,
  context: ReconcileContext,
) => Promise<Result | void> | Result | void

/** An error that no retry can help: counted and logged; the key waits for its next event. */
export class TerminalError extends Error {
  constructor(cause: unknown) {
    super(`terminal error: ${errorText(cause)}`, { cause })
    this.name = 'TerminalError'
  }
}

/** Also where a TerminalError is the cause, or one of several errors, however deep: as Go's errors.Is, of joined errors any will do. */
export function isTerminal(error: unknown): boolean {
  const seen = new Set<unknown>()
  const open = [error]
  for (const current of open) {
    if (current instanceof TerminalError) return true
    if (!(current instanceof Error) || seen.has(current)) continue
    seen.add(current)
    open.push(current.cause)
    if (current instanceof AggregateError) open.push(...current.errors)
  }
  return false
}

/** Of the codes of Node's errors those that tell of the caller's program, not of its data. */
const MISTAKES: ReadonlySet<unknown> = new Set(['ERR_ASSERTION', 'ERR_INVALID_ARG_TYPE'])

/**
 * A defect in place of an error: something thrown that is no Error, or what the language itself throws, such as a
 * TypeError for a property of undefined. With a `cause` it is somebody's report of a failure (`fetch failed`) and no panic, as
 * with a code of Node's own functions: `new URL` of what a user wrote.
 */
export function isPanic(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return true
  if (thrown.cause !== undefined) return false
  const { code } = thrown as { code?: unknown }
  if (String(code).startsWith('ERR_') && !MISTAKES.has(code)) return false
  return (
    thrown instanceof TypeError ||
    thrown instanceof ReferenceError ||
    thrown instanceof RangeError ||
    thrown instanceof SyntaxError ||
    thrown.name === 'AssertionError'
  )
}

/** A recovered panic: retried as any error. */
export class PanicError extends Error {
  constructor(thrown: unknown) {
    super(`panic: ${errorText(thrown)} [recovered]`, { cause: thrown })
    this.name = 'PanicError'
  }
}
