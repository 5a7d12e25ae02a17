/**
 * cloud-node-controller: nodes get from their cloud what only it knows, and may be used from then on.
 * Contract: docs/behaviour/controllers/cloud-node-controller.md.
 */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import { runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  RunnableController,
} from '@gyropilot/runtime'
import { cloudCalls } from '../cloud-support/cloud-calls.ts'
import { countedWhileRunning } from '../cloud-support/running-metric.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { addressLoop } from './address-loop.ts'
import { EVENT_COMPONENT, QUEUE_NAME, RUNNING_NAME, SERVICE_ACCOUNT } from './config.ts'
import { cloudNodeMetrics } from './metrics.ts'
import { reconcile } from './reconcile.ts'
import type { Observed } from './reconcile.ts'
import { nodeWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const cloudNodeController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'cloud-node-controller',
  aliases: ['cloud-node'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build(context) {
    const { provider } = context.configuration.cloud
    if (provider?.instancesV2 === undefined && provider?.instances === undefined) {
      context.logger.info('The cloud provider does not support instances')
      return undefined
    }
    return countedWhileRunning(loops(context, provider), RUNNING_NAME, context.metrics)
  },
}

function loops(context: Context, provider: CloudProvider): RunnableController {
  const nodes = runKeyedController(cloudNodeLogic(context, provider), context)
  const addresses = addressLoop(context, provider)
  return {
    async run(signal) {
      await Promise.all([nodes.run(signal), addresses(signal)])
    },
  }
}

function cloudNodeLogic(context: Context, provider: CloudProvider): KeyedController<Observed> {
  const { informers, metrics, logger, configuration } = context
  const { lister } = informers.informer(resources.nodes)
  const counted = cloudNodeMetrics(metrics)
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: configuration.cloudNode.concurrentNodeSyncs,
    watches: [nodeWatch],
    outside: cloudCalls(provider),
    observe(key) {
      const again = (): Node | undefined => lister.getByKey(key)
      const node = again()
      return node && { node, again, provider, metrics: counted, logger }
    },
    reconcile,
  }
}
