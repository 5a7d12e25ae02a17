import type { KubernetesObject } from '@gyropilot/api'
import { RestMapper } from '@gyropilot/client'
import { SeededRandom } from '@gyropilot/foundation'
import type { VirtualClock } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import type { ControllerContext } from '../controller.ts'
import type { EventRecord } from '../effects.ts'
import { FakeServer } from './fake-server.ts'
import { fakeInformers } from './fake-informers.ts'
import type { FakeInformers } from './fake-informers.ts'
import { RecordingMetrics } from './recording-metrics.ts'
import { testClock } from './test-clock.ts'

/** A context whose every part a test can see into. */
export interface TestContext<Configuration> extends ControllerContext<Configuration> {
  readonly client: FakeServer
  readonly informers: FakeInformers
  readonly metadataInformers: FakeInformers
  readonly clock: VirtualClock
  readonly logger: RecordingLogger
  readonly metrics: RecordingMetrics
  /** What was recorded, with its source component. */
  readonly events: readonly (EventRecord & { readonly component: string })[]
}

/** What a controller is built with in a test. */
export interface TestContextOptions<Configuration> {
  readonly name?: string
  readonly configuration: Configuration
  /** In the caches from the start. */
  readonly cached?: readonly KubernetesObject[]
  readonly trace?: ControllerContext['trace']
}

/**
 * What a controller is built with, all of it in memory: a server, informers that the test fills, virtual time, events and
 * metrics that are kept.
 */
export function testContext<Configuration = undefined>(
  options: TestContextOptions<Configuration>,
): TestContext<Configuration> {
  const events: (EventRecord & { component: string })[] = []
  const client = new FakeServer()
  const clock = testClock()
  return {
    name: options.name ?? 'test-controller',
    client,
    informers: fakeInformers(options.cached),
    metadataInformers: fakeInformers(options.cached),
    mapper: new RestMapper({ client, clock }),
    recorder: (component) => ({ record: (event) => void events.push({ ...event, component }) }),
    clock,
    random: new SeededRandom('test'),
    logger: new RecordingLogger(),
    metrics: new RecordingMetrics(),
    configuration: options.configuration,
    informersStarted: Promise.resolve(),
    trace: options.trace,
    events,
  }
}
