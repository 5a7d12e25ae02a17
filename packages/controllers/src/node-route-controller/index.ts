/**
 * node-route-controller: the cloud's network knows the way to the pods of each node.
 * Contract: docs/behaviour/controllers/node-route-controller.md.
 */
import { sleep } from '@gyropilot/foundation'
import { InterruptedByShutdown, callOutside, runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  Reconcile,
  RunnableController,
} from '@gyropilot/runtime'
import { countedWhileRunning } from '../cloud-support/running-metric.ts'
import { featureEnabled } from '../configuration.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { clusterCidrs } from './cluster-cidrs.ts'
import { QUEUE_NAME, RUNNING_NAME, SERVICE_ACCOUNT, WATCH_GATE } from './config.ts'
import { RoutePass } from './route-pass.ts'
import { nodeWatch, passLimiter } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const nodeRouteController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'node-route-controller',
  aliases: ['route'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build(context) {
    const { cloud, nodeRoute } = context.configuration
    if (!nodeRoute.configureCloudRoutes) {
      context.logger.info('Will not configure cloud provider routes', {
        'configure-cloud-routes': false,
      })
      return undefined
    }
    if (cloud.provider?.routes === undefined) {
      context.logger.info('The cloud provider does not support routes')
      return undefined
    }
    const cidrs = clusterCidrs(nodeRoute.clusterCidr)
    const pass = new RoutePass(context, cloud.provider, cidrs)
    const byWatch = featureEnabled(context.configuration, WATCH_GATE, false)
    const loop = byWatch
      ? runKeyedController(watchedPasses(context, pass), context)
      : clockedPasses(context, pass)
    return countedWhileRunning(loop, RUNNING_NAME, context.metrics)
  },
}

/** From start to start; a pass that takes longer than the period is followed by the next at once. */
function clockedPasses(
  { clock, logger, configuration }: Context,
  pass: RoutePass,
): RunnableController {
  const periodMs = configuration.nodeRoute.routeReconciliationPeriodMs
  return {
    async run(signal) {
      await pass.nodes.whenSynced(signal)
      while (!signal.aborted) {
        const startMs = clock.monotonicMs()
        await pass.run(signal).catch((error: unknown) => {
          if (error instanceof InterruptedByShutdown) return
          logger.error(error, "Couldn't reconcile node routes")
        })
        const restMs = periodMs - (clock.monotonicMs() - startMs)
        await sleep(clock, Math.max(restMs, 0), signal).catch(() => {})
      }
    },
  }
}

function watchedPasses({ clock, configuration }: Context, pass: RoutePass): KeyedController<true> {
  const limiter = passLimiter(clock)
  return {
    queueName: QUEUE_NAME,
    workers: 1,
    rateLimiter: limiter,
    watches: [nodeWatch(limiter, configuration.nodeRoute.routeReconciliationPeriodMs)],
    observe: () => true,
    outside: (_call, signal) => pass.run(signal),
    *reconcile(): Reconcile {
      const done = yield* callOutside('pass')
      return done.ok ? undefined : { error: done.error }
    },
  }
}
