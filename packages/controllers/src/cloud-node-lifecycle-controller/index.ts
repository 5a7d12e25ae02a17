/**
 * cloud-node-lifecycle-controller: nodes whose machine is gone are deleted, those whose machine is off are marked.
 * Contract: docs/behaviour/controllers/cloud-node-lifecycle-controller.md.
 */
import { resources } from '@gyropilot/api'
import { runPeriodicController } from '@gyropilot/runtime'
import type { ControllerDescriptor } from '@gyropilot/runtime'
import { cloudCalls } from '../cloud-support/cloud-calls.ts'
import { countedWhileRunning } from '../cloud-support/running-metric.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { EVENT_COMPONENT, RUNNING_NAME, SERVICE_ACCOUNT } from './config.ts'
import { pass } from './pass.ts'

export const cloudNodeLifecycleController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'cloud-node-lifecycle-controller',
  aliases: ['cloud-node-lifecycle'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build(context) {
    const { informers, logger, metrics, configuration } = context
    const { provider } = configuration.cloud
    if (provider?.instancesV2 === undefined && provider?.instances === undefined) {
      logger.info('The cloud provider does not support instances')
      return undefined
    }
    const nodes = informers.informer(resources.nodes)
    const loop = runPeriodicController(
      {
        periodMs: configuration.cloudNodeLifecycle.nodeMonitorPeriodMs,
        eventComponent: EVENT_COMPONENT,
        caches: [nodes],
        outside: cloudCalls(provider),
        round: () => pass(nodes.lister, provider, logger),
      },
      context,
    )
    return countedWhileRunning(loop, RUNNING_NAME, metrics)
  },
}
