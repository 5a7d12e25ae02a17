/**
 * node-lifecycle-controller: nodes that fall silent are not ready, get taints, and lose their pods in time.
 * Contract: docs/behaviour/controllers/node-lifecycle-controller.md.
 */
import { resources } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown, runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  RunnableController,
} from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { CONTROLLER_NAME, SERVICE_ACCOUNT } from './config.ts'
import { HealthMonitor, unlessStopping } from './health-monitor.ts'
import { nodeLogic, podLogic } from './node-logic.ts'

export const nodeLifecycleController: ControllerDescriptor<ControllersConfiguration> = {
  name: CONTROLLER_NAME,
  aliases: ['nodelifecycle'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build,
}

function build(context: ControllerContext<ControllersConfiguration>): RunnableController {
  const { informers, clock, logger } = context
  const { nodeLifecycle } = context.configuration
  const stopping = new AbortController()
  const monitor = new HealthMonitor(context, nodeLifecycle, stopping.signal)
  const nodes = informers.informer(resources.nodes)
  const caches = [
    nodes.addHandler({
      onDelete(deleted) {
        const isLost = deleted instanceof DeletedFinalStateUnknown
        monitor.nodeDeleted(isLost ? deleted.key : (deleted.metadata?.name ?? ''))
      },
    }),
    informers.informer(resources.leases),
    informers.informer(resources.pods),
    informers.informer(resources.daemonsets),
  ]
  const queues = [
    runKeyedController(nodeLogic(context), context),
    runKeyedController(
      podLogic(context, (name) => monitor.recordOf(name), nodeLifecycle.nodeMonitorPeriodMs),
      context,
    ),
  ]

  async function look(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await monitor.pass()
      } catch (error) {
        if (!signal.aborted) logger.error(error, 'The nodes could not be looked at')
      }
      await sleep(clock, nodeLifecycle.nodeMonitorPeriodMs, signal)
    }
  }

  return {
    async run(signal) {
      signal.addEventListener('abort', () => stopping.abort(signal.reason), { once: true })
      if (signal.aborted) stopping.abort(signal.reason)
      const synced = await Promise.all(caches.map((cache) => cache.whenSynced(signal)))
      if (!synced.every((done) => done)) return
      await Promise.all([
        ...queues.map((queue) => queue.run(signal)),
        look(signal).catch((error: unknown) => unlessStopping(error, signal)),
        monitor.tainter.run(signal).catch((error: unknown) => unlessStopping(error, signal)),
      ])
    },
  }
}
