/** For tests: a controller on informers of a server in memory, settled after its first syncs. */
import type { TestContext } from 'node:test'
import type { KubernetesObject, Pod, ResourceType } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import type { VirtualClock } from '@gyropilot/foundation'
import { SharedInformerFactory } from '@gyropilot/runtime'
import type { ControllerDescriptor, EventRecord } from '@gyropilot/runtime'
import { startLoop, testContext } from '@gyropilot/runtime/testing'
import type { FakeServer, RecordingMetrics } from '@gyropilot/runtime/testing'
import type { ControllersConfiguration } from '../configuration.ts'
import { pods } from './fixtures.ts'

interface RunningController {
  readonly server: FakeServer
  readonly clock: VirtualClock
  readonly events: readonly (EventRecord & { readonly component: string })[]
  readonly metrics: RecordingMetrics
  /** Writes so far, as verbs. */
  writes(): readonly string[]
}

interface RunningOptions {
  readonly configuration: ControllersConfiguration
  readonly objects: readonly (readonly [ResourceType, KubernetesObject])[]
  readonly onRequest?: FakeServer['onRequest']
}

const isWrite = (verb: string): boolean => ['create', 'update', 'patch', 'delete'].includes(verb)

export async function runningController(
  t: TestContext,
  descriptor: ControllerDescriptor<ControllersConfiguration>,
  { configuration, objects, onRequest }: RunningOptions,
): Promise<RunningController> {
  const context = testContext({ name: descriptor.name, configuration })
  const { client: server, clock, random, logger } = context
  for (const [type, object] of objects) server.put(type, object)
  if (onRequest !== undefined) server.onRequest = onRequest
  const informers = new SharedInformerFactory({ client: server, clock, random, logger })
  const controller = await descriptor.build({ ...context, informers })
  t.after(startLoop(controller, clock, informers).stop)
  await clock.advance(0)
  return {
    server,
    clock,
    events: context.events,
    metrics: context.metrics,
    writes: () => server.requests.filter(({ verb }) => isWrite(verb)).map(({ verb }) => verb),
  }
}

/** What happens to the first, the second, the third of a Service's pods. */
export const POD_HAPPENINGS: readonly {
  readonly what: string
  readonly before: readonly Pod[]
  event(server: FakeServer, index: number): void
}[] = [
  {
    what: 'adds',
    before: [],
    event: (server, index) => void server.put(resources.pods, pods(3)[index]!),
  },
  {
    what: 'updates',
    before: pods(3),
    event: (server, index) =>
      void server.put(resources.pods, pods(3, () => ({ ready: false }))[index]!),
  },
  {
    what: 'deletes',
    before: pods(4),
    event: (server, index) => server.remove(resources.pods, pods(3)[index]!),
  },
]

/** How events that come one after the other, after `waitsMs` each, are gathered into writes. */
export const BATCHES: readonly {
  readonly title: string
  readonly batchPeriodMs: number
  readonly waitsMs: readonly number[]
  readonly writes: number
}[] = [
  { title: 'three events without batching', batchPeriodMs: 0, waitsMs: [200, 200, 200], writes: 3 },
  { title: 'three events in one batch', batchPeriodMs: 1_000, waitsMs: [200, 200, 200], writes: 1 },
  {
    title: 'three events in two batches',
    batchPeriodMs: 1_000,
    waitsMs: [200, 200, 1_000],
    writes: 2,
  },
]
