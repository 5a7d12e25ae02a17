import type { DiscoveredResource, KubernetesObject } from '@gyropilot/api'
import type { Effect, Outcome, OutsideCall, Reconcile, Verdict, Write } from '../effects.ts'

/** What rules did, and what they came to. */
export interface Driven<R> {
  readonly result: R
  /** Everything but `now`, in order. */
  readonly effects: readonly Effect[]
  /** The writes in order, those of batches included. */
  readonly writes: readonly Write[]
  readonly events: readonly {
    readonly type: string
    readonly reason: string
    readonly message: string
  }[]
}

/** The world that rules are driven in: what is answered to their effects. */
export interface DriveOptions {
  /** Default 2026-01-01T00:00:00Z. */
  readonly nowMs?: number
  /** What a clock shows that nobody sets, asked each time. Default 0. */
  readonly elapsedMs?: () => number
  /** Answers a write; default: success with the object sent (for patch and delete: an empty object of that name). */
  readonly onWrite?: (write: Write, index: number) => Outcome | undefined
  /** Answers the GET of a path; one without an answer fails the test. */
  readonly onFetch?: (path: string) => Outcome | undefined
  /** Answers a live read; a read without an answer fails the test. */
  readonly onRead?: (read: Extract<Effect, { effect: 'read' }>['read']) => Outcome | undefined
  /** Told of a pause, which ends at once. */
  readonly onWait?: (waitMs: number) => void
  /** Answers a call outside; a call without an answer fails the test. */
  readonly onOutside?: (call: OutsideCall) => Outcome<unknown> | undefined
  /** Answers which resource serves a kind; a question without an answer fails the test. */
  readonly onKind?: (
    asked: Extract<Effect, { effect: 'kind' }>,
  ) => Outcome<DiscoveredResource> | undefined
}

/** Nothing that anybody decided. */
const UNTOLD: ReadonlySet<Effect['effect']> = new Set(['now', 'elapsed', 'turn'])

/** Runs rules to their end against a table of outcomes. No server, no clock, no promises. */
export function drive<R = Verdict | void>(
  rules: Reconcile<R>,
  options: DriveOptions = {},
): Driven<R> {
  const effects: Effect[] = []
  const writes: Write[] = []
  const events: { type: string; reason: string; message: string }[] = []
  const answer = (write: Write): Outcome => {
    writes.push(write)
    return options.onWrite?.(write, writes.length - 1) ?? { ok: true, object: echo(write) }
  }
  return { result: resultOf(rules), effects, writes, events }

  function resultOf<T>(part: Reconcile<T>): T {
    let step = part.next()
    while (!step.done) {
      const effect = step.value
      if (!UNTOLD.has(effect.effect)) effects.push(effect)
      step = part.next(outcomeOf(effect))
    }
    return step.value
  }

  function outcomeOf(effect: Effect): unknown {
    switch (effect.effect) {
      case 'now':
        return options.nowMs ?? Date.UTC(2026, 0, 1)
      case 'elapsed':
        return options.elapsedMs?.() ?? 0
      case 'wait':
        options.onWait?.(effect.waitMs)
        return undefined
      case 'turn':
        return undefined
      // One after the other: what depends on their order is a defect of the rules.
      case 'beside':
        return effect.rules.map(resultOf)
      case 'event':
        events.push({
          type: effect.event.type,
          reason: effect.event.reason,
          message: effect.event.message,
        })
        return undefined
      case 'read': {
        const outcome = options.onRead?.(effect.read)
        if (outcome === undefined)
          throw new Error(`no answer for the live read ${JSON.stringify(effect.read)}`)
        return outcome
      }
      case 'kind': {
        const outcome = options.onKind?.(effect)
        if (outcome === undefined)
          throw new Error(`no answer for the kind ${JSON.stringify(effect)}`)
        return outcome
      }
      case 'fetch': {
        const outcome = options.onFetch?.(effect.path)
        if (outcome === undefined) throw new Error(`no answer for ${effect.path}`)
        return outcome
      }
      case 'outside': {
        const outcome = options.onOutside?.(effect.call)
        if (outcome === undefined)
          throw new Error(`no answer for the call ${JSON.stringify(effect.call)}`)
        return outcome
      }
      case 'write':
        return answer(effect.write)
      case 'writes':
        return effect.order === 'parallel' ? effect.writes.map(answer) : slowStart(effect, answer)
    }
  }
}

function echo(write: Write): KubernetesObject {
  if ('object' in write) return write.object
  const name = 'name' in write ? write.name : undefined
  return { metadata: { name, namespace: write.namespace } }
}

function slowStart(
  { writes }: Extract<Effect, { effect: 'writes' }>,
  answer: (write: Write) => Outcome,
): Outcome[] {
  const outcomes: Outcome[] = []
  for (let batch = 1; outcomes.length < writes.length; batch *= 2) {
    const results = writes.slice(outcomes.length, outcomes.length + batch).map(answer)
    outcomes.push(...results)
    const failed = results.find((result) => !result.ok)
    if (failed !== undefined && !failed.ok) {
      while (outcomes.length < writes.length)
        outcomes.push({ ok: false, error: failed.error, attempted: false })
    }
  }
  return outcomes
}
