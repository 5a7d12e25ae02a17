/** Builds the enabled controllers and runs their loops. Contract: docs/behaviour/runtime/manager.md, Running the controllers. */
import type { ControllersConfiguration } from '@gyropilot/controllers'
import { jitter, sleep } from '@gyropilot/foundation'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import { EventBroadcaster, SharedInformerFactory } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  ReconcileTrace,
  RunnableController,
} from '@gyropilot/runtime'
import type { ClientBuilder } from './client-builder.ts'
import { isControllerEnabled, knownControllers } from './controller-names.ts'
import { managerErrors } from './errors.ts'
import type { HealthChecks } from './serving/health.ts'

const HEALTH_WAIT_MS = 10_000
const HEALTH_RETRY_MS = 1_000
/** The `name` label of informer metrics. */
const INFORMERS_NAME = 'kube-controller-manager'

export interface RunControllersOptions {
  /** Root credentials. */
  readonly rootClients: ClientBuilder
  readonly controllerClients: ClientBuilder
  readonly descriptors: readonly ControllerDescriptor<ControllersConfiguration>[]
  /** The items of --controllers. */
  readonly items: readonly string[]
  readonly configuration: ControllersConfiguration
  readonly startIntervalMs: number
  readonly minResyncPeriodMs: number
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly health?: HealthChecks
  readonly trace?: ReconcileTrace
}

interface Built {
  readonly name: string
  readonly loop: RunnableController
}

/**
 * Runs until `signal` aborts and every loop has returned. One constructor that fails ends the run with its error.
 * `onStarted` is told when all loops are started.
 */
export async function runControllers(
  options: RunControllersOptions,
  signal: AbortSignal,
  onStarted?: () => void,
): Promise<void> {
  const { clock, random, logger } = options
  await waitForApiServer(options, signal)
  const typed = informerFactory(options, 'shared-informers', false)
  const metadata = informerFactory(options, 'metadata-informers', true)
  let informersAreStarted = (): void => {}
  const informersStarted = new Promise<void>((resolve) => {
    informersAreStarted = resolve
  })
  const built: Built[] = []
  for (const descriptor of enabledInOrder(options)) {
    const client = options.controllerClients.client(
      descriptor.serviceAccount,
      descriptor.clientRate,
    )
    // Each controller writes its events under its own identity and within its own rate.
    const events = new EventBroadcaster({
      client,
      clock,
      random: random.fork(`${descriptor.name}/events`),
      logger: logger.named(descriptor.name),
    })
    const context: ControllerContext<ControllersConfiguration> = {
      name: descriptor.name,
      client,
      informers: typed,
      metadataInformers: metadata,
      recorder: (component) => events.recorder(component),
      clock,
      random: random.fork(descriptor.name),
      logger: logger.named(descriptor.name),
      metrics: options.metrics,
      configuration: options.configuration,
      informersStarted,
      ...(options.trace === undefined ? {} : { trace: options.trace }),
    }
    const loop = await descriptor.build(context)
    if (loop === undefined)
      logger.info('Warning: skipping controller', { controller: descriptor.name })
    else built.push({ name: descriptor.name, loop })
  }
  for (const { name } of built) options.health?.add({ name, check: () => undefined })
  typed.start(signal)
  metadata.start(signal)
  informersAreStarted()
  const loops = built.map(({ name, loop }) => runLoop(name, loop, options, signal))
  onStarted?.()
  await Promise.all(loops)
  await Promise.all([typed.shutdown(), metadata.shutdown()])
}

/** The token controller first, because others may wait for what it makes; the rest as listed. */
function enabledInOrder(
  options: RunControllersOptions,
): readonly ControllerDescriptor<ControllersConfiguration>[] {
  const { descriptors, items, configuration, logger } = options
  const enabled: ControllerDescriptor<ControllersConfiguration>[] = []
  for (const known of knownControllers) {
    const descriptor = descriptors.find(({ name }) => name === known.name)
    if (descriptor === undefined) continue
    const missing = (descriptor.featureGates ?? []).filter(
      (gate) => configuration.featureGates[gate] === false,
    )
    if (!isControllerEnabled(known, items)) {
      logger.info('Warning: controller is disabled', { controller: known.name })
    } else if (missing.length > 0) {
      logger.info('Controller is disabled by a feature gate', { controller: known.name, missing })
    } else {
      enabled.push(descriptor)
    }
  }
  return enabled
}

function informerFactory(
  options: RunControllersOptions,
  clientName: string,
  metadataOnly: boolean,
): SharedInformerFactory {
  const { clock, logger, metrics, minResyncPeriodMs } = options
  const random = options.random.fork(clientName)
  const resyncMs = jitter(random, minResyncPeriodMs, 1)
  return new SharedInformerFactory({
    client: options.rootClients.client(clientName),
    clock,
    random,
    logger: logger.named(clientName),
    metadataOnly,
    resyncMs: () => resyncMs,
    ...(metadataOnly ? {} : { metrics: { registry: metrics, name: INFORMERS_NAME } }),
  })
}

async function waitForApiServer(
  options: RunControllersOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, rootClients } = options
  const client = rootClients.client('shared-informers')
  const untilMs = clock.monotonicMs() + HEALTH_WAIT_MS
  let problem: unknown
  for (;;) {
    try {
      await client.raw({ method: 'GET', path: '/healthz', signal })
      return
    } catch (error) {
      if (signal.aborted) throw error
      problem = error
    }
    if (clock.monotonicMs() + HEALTH_RETRY_MS > untilMs) break
    await sleep(clock, HEALTH_RETRY_MS, signal)
  }
  const detail = problem instanceof Error ? problem.message : String(problem)
  throw managerErrors.make(
    'API_SERVER_UNHEALTHY',
    `failed to wait for apiserver being healthy: timed out waiting for the condition: failed to get apiserver /healthz status: ${detail}`,
    { cause: problem },
  )
}

async function runLoop(
  name: string,
  loop: RunnableController,
  options: RunControllersOptions,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, logger, startIntervalMs } = options
  if (startIntervalMs > 0) {
    const delayMs = jitter(random.fork(`${name}/start`), startIntervalMs, 1)
    await sleep(clock, delayMs, signal).catch(() => {})
  }
  if (signal.aborted) return
  logger.verbosity(1).info('Controller starting', { controller: name })
  await loop.run(signal)
  logger.verbosity(1).info('Controller terminated', { controller: name })
}
