import type { Clock } from './clock.ts'

/** A signal with its end: `dispose` takes listeners and timers back and must be called when the work is over. */
export interface ScopedSignal extends Disposable {
  readonly signal: AbortSignal
  dispose(): void
}

/** Aborts with the reason of the first of `signals` that aborts. Undefined members are left out. */
export function anySignal(signals: readonly (AbortSignal | undefined)[]): ScopedSignal {
  return scope(signals, undefined)
}

/**
 * Aborts when `signal` does, or after `timeoutMs` on the given clock with a TimeoutError
 * (`DOMException`, message `context deadline exceeded`).
 */
export function withDeadline(clock: Clock, timeoutMs: number, signal?: AbortSignal): ScopedSignal {
  return scope([signal], { clock, timeoutMs })
}

/**
 * What `work` comes to, or a rejection with the reason of `signal` as soon as that aborts, even when `work` never ends.
 * `work` goes on then, and nobody hears what becomes of it.
 */
export async function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  if (signal === undefined) return work
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const onAbort = (): void => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    // Aborted goes first: of two that are settled already, the race takes the first.
    return await Promise.race([aborted, work])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function scope(
  signals: readonly (AbortSignal | undefined)[],
  deadline: { readonly clock: Clock; readonly timeoutMs: number } | undefined,
): ScopedSignal {
  const controller = new AbortController()
  const undo: (() => void)[] = []
  const dispose = (): void => {
    for (const step of undo.splice(0)) step()
  }
  const abort = (reason: unknown): void => {
    dispose()
    controller.abort(reason)
  }
  for (const signal of signals) {
    if (signal === undefined || controller.signal.aborted) continue
    if (signal.aborted) {
      abort(signal.reason)
      continue
    }
    const onAbort = (): void => abort(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    undo.push(() => signal.removeEventListener('abort', onAbort))
  }
  if (deadline !== undefined && !controller.signal.aborted) {
    const timer = deadline.clock.after(deadline.timeoutMs, () =>
      abort(new DOMException('context deadline exceeded', 'TimeoutError')),
    )
    undo.push(() => timer.cancel())
  }
  return { signal: controller.signal, dispose, [Symbol.dispose]: dispose }
}
