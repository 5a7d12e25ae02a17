/** namespace-controller: empties namespaces that are being deleted. Contract: docs/behaviour/controllers/namespace-controller.md. */
import { resources } from '@gyropilot/api'
import { exponentialAndBucket, runKeyedController } from '@gyropilot/runtime'
import type { ControllerDescriptor } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { LARGE_POD_COUNT, QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'
import { DeletionPauses } from './deletion-pause.ts'
import { reconcile } from './reconcile.ts'
import { LASTING_CONTENT, lastOneWatch, namespaceWatch } from './watches.ts'

export const namespaceController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'namespace-controller',
  aliases: ['namespace'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  // Its handler is there before the cache of namespaces is filled: later it could not have it told again every five minutes.
  isWaitedFor: true,
  clientRate: { qpsFactor: 20, burstFactor: 100 },
  build(context) {
    const { concurrentNamespaceSyncs, namespaceSyncPeriodMs } = context.configuration.namespace
    const { lister } = context.informers.informer(resources.namespaces)
    const { lister: pods } = context.metadataInformers.informer(resources.pods)
    const pauses = new DeletionPauses(context.clock)
    return runKeyedController(
      {
        queueName: QUEUE_NAME,
        workers: concurrentNamespaceSyncs,
        rateLimiter: exponentialAndBucket(context.clock, 5, 60_000),
        watches: [
          namespaceWatch(namespaceSyncPeriodMs, pauses),
          ...LASTING_CONTENT.map((type) =>
            lastOneWatch(type, context.metadataInformers.informer(type).lister, lister),
          ),
        ],
        observe(key) {
          const namespace = lister.getByKey(key)
          if (namespace === undefined) return
          const isLarge = pods.count(key) >= LARGE_POD_COUNT
          return { namespace, pauseLeftMs: pauses.leftMs(namespace), isLarge }
        },
        reconcile,
      },
      context,
    )
  },
}
