/**
 * service-lb-controller: Services of type LoadBalancer get a balancer of the cloud, and balancers the nodes that there are.
 * Contract: docs/behaviour/controllers/service-lb-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import { byString } from '@gyropilot/foundation'
import {
  ExponentialRateLimiter,
  callOutside,
  interpret,
  parallelize,
  runKeyedController,
} from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  Reconcile,
  RunnableController,
  World,
} from '@gyropilot/runtime'
import { cloudCalls } from '../cloud-support/cloud-calls.ts'
import { countedWhileRunning } from '../cloud-support/running-metric.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { isBackend, nameOf } from './backends.ts'
import {
  EVENT_COMPONENT,
  LEAST_RETRY_MS,
  LONGEST_RETRY_MS,
  NODE_QUEUE_NAME,
  RUNNING_NAME,
  SERVICE_ACCOUNT,
  SERVICE_QUEUE_NAME,
} from './config.ts'
import { BalancerMemory } from './memory.ts'
import { serviceLbMetrics } from './metrics.ts'
import type { ServiceLbMetrics } from './metrics.ts'
import { syncNodes } from './node-sync.ts'
import { reconcile } from './reconcile.ts'
import type { Observed } from './reconcile.ts'
import { nodeWatch, serviceWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const serviceLbController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'service-lb-controller',
  aliases: ['service'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build(context) {
    const { provider } = context.configuration.cloud
    if (provider?.loadBalancers === undefined) {
      context.logger.info('The cloud provider does not support external load balancers')
      return undefined
    }
    const loop = new BalancerLoops(context, provider).runnable()
    return countedWhileRunning(loop, RUNNING_NAME, context.metrics)
  },
}

/** Two queues over one memory: Services, and changes of nodes. */
class BalancerLoops {
  readonly #context: Context
  readonly #provider: CloudProvider
  readonly #memory = new BalancerMemory()
  readonly #metrics: ServiceLbMetrics

  constructor(context: Context, provider: CloudProvider) {
    this.#context = context
    this.#provider = provider
    this.#metrics = serviceLbMetrics(context.metrics)
  }

  runnable(): RunnableController {
    const services = runKeyedController(this.#services(), this.#context)
    const nodes = runKeyedController(
      this.#nodes((key) => services.enqueue(key)),
      this.#context,
    )
    return {
      async run(signal) {
        await Promise.all([services.run(signal), nodes.run(signal)])
      },
    }
  }

  #services(): KeyedController<Observed> {
    const { informers, configuration } = this.#context
    const { lister } = informers.informer(resources.services)
    const nodes = informers.informer(resources.nodes)
    return {
      queueName: SERVICE_QUEUE_NAME,
      eventComponent: EVENT_COMPONENT,
      workers: configuration.serviceLb.concurrentServiceSyncs,
      rateLimiter: new ExponentialRateLimiter(LEAST_RETRY_MS, LONGEST_RETRY_MS),
      watches: [serviceWatch],
      alsoAwait: [nodes],
      outside: cloudCalls(this.#provider),
      observe: (key) => ({
        key,
        clusterName: configuration.cloud.clusterName,
        service: lister.getByKey(key),
        backends: this.#backends,
        memory: this.#memory,
      }),
      reconcile,
    }
  }

  readonly #backends = (): readonly Node[] => {
    const { lister } = this.#context.informers.informer(resources.nodes)
    return lister.list().filter(isBackend).toSorted(byString(nameOf))
  }

  /** Whatever node changed, all balancers are looked at; a failure is not tried again here. */
  #nodes(ensureAnew: (key: string) => void): KeyedController<true> {
    return {
      queueName: NODE_QUEUE_NAME,
      workers: 1,
      watches: [nodeWatch],
      observe: () => true,
      outside: (_call, signal) => this.#syncAll(ensureAnew, signal),
      *reconcile(): Reconcile {
        yield* callOutside('sync nodes')
      },
    }
  }

  async #syncAll(ensureAnew: (key: string) => void, signal: AbortSignal): Promise<void> {
    const { clock, configuration, logger } = this.#context
    const startMs = clock.monotonicMs()
    const { keys } = this.#memory
    const sync = {
      clusterName: configuration.cloud.clusterName,
      memory: this.#memory,
      metrics: this.#metrics,
      backends: this.#backends,
    }
    const tell = async (key: string): Promise<void> => {
      const error = await interpret(syncNodes(key, sync), this.#worldOf(key, signal))
      if (error === undefined) return
      logger.error(error, 'The load balancer was not told of its nodes', { service: key })
      ensureAnew(key)
    }
    const { concurrentServiceSyncs } = configuration.serviceLb
    await parallelize(concurrentServiceSyncs, keys.length, (index) => tell(keys[index]!), {
      signal,
    })
    this.#metrics.nodeSyncTook(clock.monotonicMs() - startMs)
  }

  #worldOf(key: string, signal: AbortSignal): World {
    const { client, clock, name, trace } = this.#context
    const recorder = this.#context.recorder(EVENT_COMPONENT)
    return {
      client,
      clock,
      signal,
      recordEvent: (event) => recorder.record(event),
      outside: cloudCalls(this.#provider),
      onEffect: trace && ((effect, outcome) => trace.effect(name, key, effect, outcome)),
    }
  }
}
