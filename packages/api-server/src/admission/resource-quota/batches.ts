import type { Clock } from '@gyropilot/foundation'
import { untilAborted, withDeadline } from '@gyropilot/foundation'
import { internalError } from '../../http/errors.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import { quotasAfter } from './judge.ts'
import type { Judged, LimitedResource } from './judge.ts'

/** Namespaces that are worked on at the same time. */
const WORKERS = 5
const TIMEOUT_MS = 10_000
/** How often quotas that could not be written are read and judged by again. */
const RETRIES = 3

interface QuotaBatchesOptions {
  readonly clock: Clock
  readonly limited: readonly LimitedResource[]
  quotasIn(namespace: string): readonly Stored[]
  /** Writes status.used. Rejects when the quota is no longer of this resourceVersion. */
  write(quota: Stored): Promise<void>
}

interface Waiting {
  readonly judged: Judged
  allow(): void
  refuse(error: unknown): void
}

/**
 * Requests of one namespace are judged one after the other, those that wait meanwhile together: each sees what the ones
 * before it take, and a quota is written once for all of them.
 */
export class QuotaBatches {
  readonly #options: QuotaBatchesOptions
  readonly #waiting = new Map<string, Waiting[]>()
  readonly #inWork = new Set<string>()

  constructor(options: QuotaBatchesOptions) {
    this.#options = options
  }

  /** Resolves when the request is allowed and charged. Rejects with ApiError. */
  async admit(judged: Judged): Promise<void> {
    const { namespace } = judged.request
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(namespace) ?? []
    waiting.push({ judged, allow: resolve, refuse: reject })
    this.#waiting.set(namespace, waiting)
    this.#startWorkers()
    using deadline = withDeadline(this.#options.clock, TIMEOUT_MS)
    await untilAborted(promise, deadline.signal).catch((error: unknown) => {
      throw deadline.signal.aborted ? internalError('resource quota evaluation timed out') : error
    })
  }

  #startWorkers(): void {
    for (const [namespace, batch] of this.#waiting) {
      if (this.#inWork.size >= WORKERS) return
      if (this.#inWork.has(namespace)) continue
      this.#waiting.delete(namespace)
      this.#inWork.add(namespace)
      void this.#settle(namespace, batch)
        .catch((error: unknown) => batch.forEach(({ refuse }) => refuse(error)))
        .finally(() => {
          this.#inWork.delete(namespace)
          this.#startWorkers()
        })
    }
  }

  async #settle(namespace: string, batch: readonly Waiting[]): Promise<void> {
    const { quotasIn, limited } = this.#options
    let undecided = batch
    let quotas = quotasIn(namespace)
    for (let retries = 0; undecided.length > 0; retries++) {
      // On a retry the other quotas have allowed it already: what is covered is no question any more.
      const judgement = judgeAll(undecided, quotas, retries === 0 ? limited : [])
      undecided = judgement.charged
      const failures = await this.#writeAll(judgement.changed)
      if (failures.size === 0) undecided.forEach(({ allow }) => allow())
      if (failures.size === 0) return
      if (retries === RETRIES) {
        const last = [...failures.values()].at(-1)
        undecided.forEach(({ refuse }) => refuse(last))
        return
      }
      quotas = quotasIn(namespace).filter((quota) => failures.has(quota['metadata'].name))
    }
  }

  /** Errors by the name of the quota. */
  async #writeAll(quotas: readonly Stored[]): Promise<ReadonlyMap<string, unknown>> {
    const failures = new Map<string, unknown>()
    for (const quota of quotas) {
      try {
        await this.#options.write(quota)
      } catch (error) {
        failures.set(quota['metadata'].name, error)
      }
    }
    return failures
  }
}

/** Answers those that are refused or take nothing; the others are charged to `changed`, which is to be written. */
function judgeAll(
  requests: readonly Waiting[],
  quotas: readonly Stored[],
  limited: readonly LimitedResource[],
): { readonly charged: readonly Waiting[]; readonly changed: readonly Stored[] } {
  const charged: Waiting[] = []
  let current = quotas
  for (const waiting of requests) {
    try {
      const after = quotasAfter(current, waiting.judged, limited)
      const isUnchanged = after.every((quota, index) => quota === current[index])
      if (isUnchanged || waiting.judged.request.dryRun) {
        waiting.allow()
        continue
      }
      current = after
      charged.push(waiting)
    } catch (error) {
      waiting.refuse(error)
    }
  }
  return { charged, changed: current.filter((quota, index) => quota !== quotas[index]) }
}
