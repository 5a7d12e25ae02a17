/** namespace-controller: empties namespaces that are being deleted. Contract: docs/behaviour/controllers/namespace-controller.md. */
import { resources } from '@gyropilot/api'
import { exponentialAndBucket, runKeyedController } from '@gyropilot/runtime'
import type { ControllerDescriptor } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { QUEUE_NAME, SERVICE_ACCOUNT } from './config.ts'
import { reconcile } from './reconcile.ts'
import { LASTING_CONTENT, lastOneWatch, namespaceWatch } from './watches.ts'

export const namespaceController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'namespace-controller',
  aliases: ['namespace'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  clientRate: { qpsFactor: 20, burstFactor: 100 },
  build(context) {
    const { concurrentNamespaceSyncs, namespaceSyncPeriodMs } = context.configuration.namespace
    const { lister } = context.informers.informer(resources.namespaces)
    return runKeyedController(
      {
        queueName: QUEUE_NAME,
        workers: concurrentNamespaceSyncs,
        rateLimiter: exponentialAndBucket(context.clock, 5, 60_000),
        watches: [
          namespaceWatch(namespaceSyncPeriodMs),
          ...LASTING_CONTENT.map((type) =>
            lastOneWatch(type, context.metadataInformers.informer(type).lister, lister),
          ),
        ],
        observe: (key) => lister.getByKey(key),
        reconcile,
      },
      context,
    )
  },
}
