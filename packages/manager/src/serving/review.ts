/** Questions to the cluster about a request that waits: bounded, and tried again where that may help. */
import { StatusError, isConnectionLost, retryOnError } from '@gyropilot/client'
import type { Backoff, Client } from '@gyropilot/client'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { withDeadline } from '@gyropilot/foundation'
import type { AuthMetrics, ReviewPurpose } from './auth-metrics.ts'

const TIMEOUT_MS = 10_000
const BACKOFF: Backoff = { steps: 5, durationMs: 500, factor: 1.5, jitter: 0.2 }

export async function review<T>(
  {
    clock,
    random,
    metrics,
  }: { readonly clock: Clock; readonly random: RandomSource; readonly metrics: AuthMetrics },
  client: Client,
  {
    purpose,
    ...request
  }: { readonly purpose: ReviewPurpose; readonly path: string; readonly json: unknown },
): Promise<T> {
  using deadline = withDeadline(clock, TIMEOUT_MS)
  const { signal } = deadline
  return await retryOnError({ clock, random, signal }, BACKOFF, mayPass, async () => {
    const startedMs = metrics.startedMs()
    try {
      const answer = await client.raw<T>({ method: 'POST', ...request, signal })
      metrics.reviewed(purpose, startedMs)
      return answer
    } catch (error) {
      metrics.reviewed(purpose, startedMs, error)
      throw error
    }
  })
}

/** Server errors, 429 and lost connections pass; a refusal and an unreachable server do not. */
function mayPass(error: unknown): boolean {
  if (error instanceof StatusError)
    return error.code === 429 || error.code === 500 || error.code === 504
  return isConnectionLost(error)
}
