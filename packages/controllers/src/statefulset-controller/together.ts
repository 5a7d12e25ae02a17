/** Rules for many pods at the same time, as one rule. */
import type { Effect, Outcome, Reconcile, Write } from '@gyropilot/runtime'

type WriteEffect = Extract<Effect, { effect: 'write' }>

/**
 * Runs the rules side by side: each goes on until it wants to write, then all these writes are sent at
 * once, and so on. Results are in the order of the rules.
 */
export function* together<R>(rules: readonly Reconcile<R>[]): Reconcile<readonly R[]> {
  const results: R[] = []
  let writing: { readonly index: number; readonly write: Write }[] = []
  const goOn = function* (index: number, input?: unknown): Reconcile<void> {
    let step = rules[index]!.next(input)
    while (!step.done) {
      if (step.value.effect === 'write') {
        writing.push({ index, write: (step.value satisfies WriteEffect).write })
        return
      }
      step = rules[index]!.next(yield step.value)
    }
    results[index] = step.value
  }
  for (const index of rules.keys()) yield* goOn(index)
  while (writing.length > 0) {
    const sent = writing
    writing = []
    const writes = sent.map(({ write }) => write)
    const outcomes = (yield { effect: 'writes', writes, order: 'parallel' }) as readonly Outcome[]
    for (const [position, { index }] of sent.entries()) yield* goOn(index, outcomes[position])
  }
  return results
}

/**
 * Runs the rules in batches of 1, 2, 4, ..., at most `limit`. A batch with an error is finished and is
 * the last; its first error is the result. Where there is nothing to do, undefined takes the place in a batch.
 */
export function* inGrowingBatches(
  rules: readonly (() => Reconcile<{ readonly error?: unknown }> | undefined)[],
  limit: number,
): Reconcile<{ readonly error?: unknown }> {
  let size = 1
  for (let next = 0; next < rules.length; size = Math.min(2 * size, limit)) {
    const batch = rules.slice(next, next + size).flatMap((start) => start() ?? [])
    next += size
    const failed = (yield* together(batch)).find(({ error }) => error !== undefined)
    if (failed !== undefined) return failed
  }
  return {}
}
