/** Builds the enabled controllers and runs their loops. Contract: docs/behaviour/runtime/manager.md, Running the controllers. */
import { groupResourceOf, resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { RestMapper } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import { anySignal, errorText, jitter, sleep, withDeadline } from '@gyropilot/foundation'
import type { Clock, Logger, MetricsRegistry, RandomSource } from '@gyropilot/foundation'
import {
  EventBroadcaster,
  SharedInformerFactory,
  WholeOrMetadataInformers,
} from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  InformerFactory,
  InformerSwitches,
  ReconcileTrace,
  RunnableController,
} from '@gyropilot/runtime'
import type { ClientBuilder } from './identities/client-builder.ts'
import { TOKEN_CONTROLLER, isControllerEnabled, knownControllers } from './controller-names.ts'
import type { KnownController } from './controller-names.ts'
import { managerErrors } from './errors.ts'
import { leanPod, leanSpecText } from './lean-pod.ts'
import { loggingRecorder } from './logging-recorder.ts'
import type { Prepared } from './program.ts'
import type { HealthChecks } from './serving/health.ts'
import type { DebugHandler } from './serving/routes.ts'

const HEALTH_WAIT_MS = 10_000
const HEALTH_RETRY_MS = 1_000
/** For how long at most all other caches wait for the first ones, which a cluster of some namespaces fills in 20 ms. */
const FIRST_CACHES_WAIT_MS = 100
const DEFAULT_PROGRAM = 'kube-controller-manager'
const EVENT_VERBOSITY = 3
const PODS = groupResourceOf(resources.pods)
/** Upstream's informers of these groups come with other clients than that of the typed factory, and have no name. */
const OF_OTHER_CLIENTS = ['apiextensions.k8s.io', 'apiregistration.k8s.io']
/** Groups with types that only a server with their gates on serves; nothing of them is served by default. */
const SERVED_ON_REQUEST = ['internal.apiserver.k8s.io', 'storagemigration.k8s.io']
/** By group and not by type, for a server may serve more of a group (PodGroups, ResourcePoolStatusRequests) than the table of types has. */
const TYPED_GROUPS: ReadonlySet<string> = new Set(
  [...Object.values(resources).map(({ group }) => group), ...SERVED_ON_REQUEST].filter(
    (group) => !OF_OTHER_CLIENTS.includes(group),
  ),
)
/** A kind that was taken for known is looked for anew after it. */
const MAPPING_AGE_MS = 30_000

export interface RunControllersOptions {
  /** Root credentials. */
  readonly rootClients: ClientBuilder
  readonly controllerClients: ClientBuilder
  readonly descriptors: readonly ControllerDescriptor<ControllersConfiguration>[]
  /** The items of --controllers. */
  readonly items: readonly string[]
  /** The `name` label of informer metrics. Default: kube-controller-manager. */
  readonly program?: string
  /** What the items may name, in the order of building. Default: those of kube-controller-manager. */
  readonly knownControllers?: readonly KnownController[]
  /** See Program. Default: all at once, after the informers. */
  readonly startsOneByOne?: boolean
  /** See Prepared. */
  readonly beforeControllers?: Prepared['beforeControllers']
  readonly configuration: ControllersConfiguration
  readonly startIntervalMs: number
  readonly minResyncPeriodMs: number
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly metrics: MetricsRegistry
  readonly health?: HealthChecks
  /** Filled with the pages of controllers that have any. */
  readonly debugHandlers?: Map<string, DebugHandler>
  readonly trace?: ReconcileTrace
  /** Detectors of edited caches and of wrong streamed lists, for tests. */
  readonly informers?: Pick<InformerSwitches, 'onAltered' | 'onInconsistentList'>
}

interface Built {
  readonly name: string
  readonly loop: RunnableController
}

interface Shared {
  readonly typed: InformerFactory
  /** Of all types: the typed ones, where there are any. */
  readonly metadata: InformerFactory
  readonly mapper: RestMapper
  readonly informersStarted: Promise<void>
  readonly broadcasters: EventBroadcaster[]
}

/**
 * Runs until `signal` aborts and every loop has returned. One constructor that fails ends the run with its error; so does a
 * loop, after all others were stopped.
 * `onStarted` is told when all loops are started.
 */
export async function runControllers(
  options: RunControllersOptions,
  signal: AbortSignal,
  onStarted?: () => void,
): Promise<void> {
  try {
    await waitForApiServer(options, signal)
  } catch (error) {
    if (signal.aborted) return
    throw error
  }
  const started = Promise.withResolvers<void>()
  const typed = informerFactory(options, 'shared-informers', false)
  const metadata = informerFactory(options, 'metadata-informers', true)
  const shared: Shared = {
    typed,
    metadata: new WholeOrMetadataInformers(typed, metadata),
    mapper: new RestMapper({
      client: options.rootClients.client('controller-discovery'),
      clock: options.clock,
      mostAgeMs: MAPPING_AGE_MS,
    }),
    informersStarted: started.promise,
    broadcasters: [],
  }
  const failure = new AbortController()
  using lifetime = anySignal([signal, failure.signal])
  const loops: Promise<void>[] = []
  const start = ({ name, loop }: Built, intervalMs: number): void => {
    const running = runLoop(name, loop, options, intervalMs, lifetime.signal)
    loops.push(
      running.catch((error: unknown) => {
        options.logger.error(error, 'A controller failed', { controller: name })
        failure.abort(error)
      }),
    )
  }
  let built: readonly Built[]
  try {
    await prepareControllers(options, shared, lifetime.signal)
    built = await buildAll(options, shared, lifetime.signal, async (each) => {
      if (options.startsOneByOne !== true) return
      start(each, 0)
      await pause(each.name, options.startIntervalMs, options, lifetime.signal)
    })
    if (options.startsOneByOne === true && !signal.aborted) await waitForApiServer(options, signal)
  } catch (error) {
    failure.abort(error)
    await Promise.all([...loops, shared.metadata.shutdown()])
    if (signal.aborted) return
    throw error
  }
  for (const each of built) expose(each, options)
  shared.metadata.start(lifetime.signal)
  started.resolve()
  if (options.startsOneByOne !== true)
    for (const each of built) start(each, options.startIntervalMs)
  onStarted?.()
  await Promise.all(loops)
  // Without any loop there is nothing to wait for but the signal.
  await aborted(lifetime.signal)
  await shared.metadata.shutdown()
  await Promise.all(shared.broadcasters.map((broadcaster) => broadcaster.shutdown()))
  failure.signal.throwIfAborted()
}

async function prepareControllers(
  { beforeControllers, controllerClients }: RunControllersOptions,
  { typed }: Shared,
  signal: AbortSignal,
): Promise<void> {
  const client = (name: string): Client => controllerClients.client(name)
  await beforeControllers?.({ client, informers: typed, signal })
}

/** `onBuilt` is told of each before the next is built. */
async function buildAll(
  options: RunControllersOptions,
  shared: Shared,
  signal: AbortSignal,
  onBuilt: (built: Built) => Promise<void>,
): Promise<readonly Built[]> {
  const descriptors = waitedForFirst(enabledInOrder(options))
  const lastWaitedFor = descriptors.findLast(({ isWaitedFor }) => isWaitedFor)
  const built: Built[] = []
  let firstCaches: Promise<void> | undefined
  for (const descriptor of descriptors) {
    const loop = await build(descriptor, options, shared)
    if (descriptor === lastWaitedFor) firstCaches = fillFirst(shared.typed, options, signal)
    if (loop === undefined) continue
    const each = { name: descriptor.name, loop }
    built.push(each)
    await onBuilt(each)
  }
  await firstCaches
  return built
}

/** Its health check, and its debug pages where it has any. */
function expose({ name, loop }: Built, { health, debugHandlers }: RunControllersOptions): void {
  health?.add({ name, check: () => undefined })
  if (loop.debug !== undefined) debugHandlers?.set(name, (path, query) => loop.debug?.(path, query))
}

async function build(
  descriptor: ControllerDescriptor<ControllersConfiguration>,
  options: RunControllersOptions,
  shared: Shared,
): Promise<RunnableController | undefined> {
  const { clock, random, metrics, configuration, trace } = options
  const { name, serviceAccount, clientRate, usesRootClient, isWaitedFor } = descriptor
  const logger = options.logger.named(name)
  const clients = usesRootClient ? options.rootClients : options.controllerClients
  const client = clients.client(serviceAccount, clientRate)
  if (isWaitedFor) clients.prepare?.(serviceAccount)
  // Each controller writes its events under its own identity and within its own rate.
  const events = new EventBroadcaster({
    client,
    clock,
    random: random.fork(`${name}/events`),
    logger,
  })
  shared.broadcasters.push(events)
  const context: ControllerContext<ControllersConfiguration> = {
    name,
    client,
    informers: shared.typed,
    metadataInformers: shared.metadata,
    mapper: shared.mapper,
    recorder: (component) =>
      loggingRecorder(events.recorder(component), logger.verbosity(EVENT_VERBOSITY)),
    clock,
    random: random.fork(name),
    logger,
    metrics,
    configuration,
    informersStarted: shared.informersStarted,
    ...(trace === undefined ? {} : { trace }),
  }
  try {
    const loop = await descriptor.build(context)
    if (loop === undefined)
      options.logger.info('Warning: skipping controller', { controller: name })
    return loop
  } catch (error) {
    options.logger.error(error, 'Error initializing a controller', { controller: name })
    throw error
  }
}

/** The token controller first, because others may wait for what it makes; the rest as listed. */
function enabledInOrder(
  options: RunControllersOptions,
): readonly ControllerDescriptor<ControllersConfiguration>[] {
  const { descriptors, items, configuration, logger } = options
  const enabled: ControllerDescriptor<ControllersConfiguration>[] = []
  for (const known of options.knownControllers ?? knownControllers) {
    const controller = known.name
    const descriptor = descriptors.find(({ name }) => name === controller)
    if (!isControllerEnabled(known, items)) {
      logger.info('Warning: controller is disabled', { controller })
      continue
    }
    if (known.cloud) {
      logger.verbosity(2).info('Skipping a cloud provider controller', { controller })
      logger.info('Warning: skipping controller', { controller })
      continue
    }
    if (descriptor === undefined) continue
    const missing = (descriptor.featureGates ?? []).filter(
      (gate) => configuration.featureGates[gate] === false,
    )
    if (missing.length > 0) {
      logger.info('Controller is disabled by a feature gate', { controller, missing })
    } else {
      enabled.push(descriptor)
    }
  }
  return enabled
}

/** The token controller stays first, as upstream has it; then those that others wait for. */
function waitedForFirst(
  descriptors: readonly ControllerDescriptor<ControllersConfiguration>[],
): readonly ControllerDescriptor<ControllersConfiguration>[] {
  const rank = ({ name, isWaitedFor }: ControllerDescriptor<ControllersConfiguration>): number =>
    name === TOKEN_CONTROLLER ? 0 : isWaitedFor === true ? 1 : 2
  return descriptors.toSorted((one, other) => rank(one) - rank(other))
}

/**
 * Starts the informers that were asked for so far, while the other controllers are built: the server answers a few small lists at
 * once, and forty lists, of all pods among them, one after the other. Resolves when they are filled, or after a while.
 */
async function fillFirst(
  informers: InformerFactory,
  { clock }: RunControllersOptions,
  signal: AbortSignal,
): Promise<void> {
  informers.start(signal)
  using waiting = withDeadline(clock, FIRST_CACHES_WAIT_MS, signal)
  await informers.waitForCacheSync(waiting.signal)
}

function informerFactory(
  options: RunControllersOptions,
  clientName: string,
  metadataOnly: boolean,
): SharedInformerFactory {
  const { clock, logger, metrics, minResyncPeriodMs } = options
  const random = options.random.fork(clientName)
  const resyncMs = jitter(random, minResyncPeriodMs, 1)
  const isWholePod = (type: ResourceType): boolean =>
    groupResourceOf(type) === PODS && !metadataOnly
  return new SharedInformerFactory({
    client: options.rootClients.client(clientName),
    clock,
    random,
    logger: logger.named(clientName),
    metadataOnly,
    watchList: options.configuration.featureGates['WatchListClient'] ?? true,
    // A leader must know all that the one before it wrote.
    firstList: 'latest',
    ...options.informers,
    resyncMs: () => resyncMs,
    metrics: {
      registry: metrics,
      name: options.program ?? DEFAULT_PROGRAM,
      shows: ({ group }) => TYPED_GROUPS.has(group),
    },
    trimOf: (type) => (isWholePod(type) ? leanPod : undefined),
    specTextOf: (type) => (isWholePod(type) ? leanSpecText : undefined),
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
  throw managerErrors.make(
    'API_SERVER_UNHEALTHY',
    `failed to wait for apiserver being healthy: timed out waiting for the condition: failed to get apiserver /healthz status: ${errorText(problem)}`,
    { cause: problem },
  )
}

/** Of --controller-start-interval, and by chance up to as much again. */
async function pause(
  name: string,
  intervalMs: number,
  { clock, random }: RunControllersOptions,
  signal: AbortSignal,
): Promise<void> {
  if (intervalMs <= 0) return
  const delayMs = jitter(random.fork(`${name}/start`), intervalMs, 1)
  await sleep(clock, delayMs, signal).catch(() => {})
}

async function runLoop(
  name: string,
  loop: RunnableController,
  options: RunControllersOptions,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { logger } = options
  await pause(name, intervalMs, options, signal)
  if (signal.aborted) return
  logger.verbosity(1).info('Controller starting', { controller: name })
  await loop.run(signal)
  logger.verbosity(1).info('Controller terminated', { controller: name })
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
