import type { KubernetesObject, ResourceType, WatchEvent } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { PrometheusRegistry } from '@gyropilot/foundation'
import { RecordingLogger, virtualClock } from '@gyropilot/foundation/testing'
import { ApiClient } from './api-client.ts'
import type { ApiClientOptions } from './api-client.ts'
import { fakeTransport } from './testing/index.ts'
import type { Answer, FakeTransport } from './testing/index.ts'

export const pods = resources.pods as ResourceType
export const pod = { metadata: { name: 'x' } }

/** A client without a rate limit over scripted answers, on a clock of the test. */
export function setup(
  answers: readonly Answer[],
  options: Partial<ApiClientOptions> & { repeatLast?: boolean } = {},
): {
  client: ApiClient
  transport: FakeTransport
  clock: ReturnType<typeof virtualClock>
  logger: RecordingLogger
  metrics: PrometheusRegistry
} {
  const transport = fakeTransport(answers, { repeatLast: options.repeatLast ?? false })
  const clock = virtualClock()
  const logger = new RecordingLogger()
  const metrics = new PrometheusRegistry()
  const client = new ApiClient({
    transport,
    clock,
    logger,
    metrics,
    qps: -1,
    host: 'h:6443',
    ...options,
  })
  return { client, transport, clock, logger, metrics }
}

/** The outcome of a promise once the clock has run. */
export function outcome<T>(promise: Promise<T>): { value?: T; error?: unknown; done: boolean } {
  const state: { value?: T; error?: unknown; done: boolean } = { done: false }
  promise.then(
    (value) => Object.assign(state, { value, done: true }),
    (error: unknown) => Object.assign(state, { error, done: true }),
  )
  return state
}

export async function all(
  events: AsyncIterable<WatchEvent<KubernetesObject>>,
): Promise<WatchEvent<KubernetesObject>[]> {
  const seen: WatchEvent<KubernetesObject>[] = []
  for await (const event of events) seen.push(event)
  return seen
}
