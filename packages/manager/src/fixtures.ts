/** A manager without a cluster: clients over a fake server, and controllers that note what happens to them. */
import type { ControllersConfiguration } from '@gyropilot/controllers'
import { defaultControllersConfiguration } from '@gyropilot/controllers'
import type { Client } from '@gyropilot/client'
import { PrometheusRegistry, SeededRandom } from '@gyropilot/foundation'
import { RecordingLogger } from '@gyropilot/foundation/testing'
import type {
  ControllerContext,
  ControllerDescriptor,
  RunnableController,
} from '@gyropilot/runtime'
import { FakeServer, testClock } from '@gyropilot/runtime/testing'
import type { ClientBuilder } from './identities/client-builder.ts'
import { HealthChecks } from './serving/health.ts'
import type { DebugHandler } from './serving/routes.ts'
import { runControllers } from './run-controllers.ts'
import type { RunControllersOptions } from './run-controllers.ts'

type Descriptor = ControllerDescriptor<ControllersConfiguration>

/** Runs until its signal aborts. */
export const obedientLoop: RunnableController = {
  run: (signal) =>
    new Promise((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve(), { once: true })
    }),
}

/** Never ends. */
export const stubbornLoop: RunnableController = { run: () => new Promise<void>(() => {}) }

export function descriptor(
  name: string,
  build: (
    context: ControllerContext<ControllersConfiguration>,
  ) => RunnableController | undefined = () => obedientLoop,
  more: Partial<Descriptor> = {},
): Descriptor {
  return { name, aliases: [], enabledByDefault: true, serviceAccount: name, build, ...more }
}

export function managerWorld(descriptors: readonly Descriptor[] = []) {
  const server = new FakeServer()
  const clock = testClock()
  const logger = new RecordingLogger()
  const metrics = new PrometheusRegistry()
  const health = new HealthChecks()
  const debugHandlers = new Map<string, DebugHandler>()
  const state = { healthy: true, healthRequests: 0, clients: [] as string[] }
  const clientsAs = (who: string): ClientBuilder => ({
    prepare: (name) => void state.clients.push(`${who} ${name}, at once`),
    client(name): Client {
      state.clients.push(`${who} ${name}`)
      return {
        resource: (type, namespace) => server.resource(type, namespace),
        async raw<T>(): Promise<T> {
          state.healthRequests++
          if (!state.healthy) throw new Error('connection refused')
          return 'ok' as T
        },
      }
    },
  })
  const options: RunControllersOptions = {
    rootClients: clientsAs('root'),
    controllerClients: clientsAs('own'),
    descriptors,
    items: ['*'],
    configuration: { ...defaultControllersConfiguration, featureGates: {} },
    startIntervalMs: 0,
    minResyncPeriodMs: 12 * 3_600_000,
    clock,
    random: new SeededRandom('manager'),
    logger,
    metrics,
    health,
    debugHandlers,
  }
  const stop = new AbortController()
  return {
    server,
    clock,
    logger,
    metrics,
    health,
    debugHandlers,
    state,
    options,
    stop,
    run: (more: Partial<RunControllersOptions> = {}) =>
      runControllers({ ...options, ...more }, stop.signal),
  }
}
