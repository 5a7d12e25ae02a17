/** bootstrap-signer-controller: signs `kube-public/cluster-info`. Contract: docs/behaviour/controllers/bootstrap-signer-controller.md. */
import { keyOf, resources } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { TOKEN_NAMESPACE, isTokenSecret } from '../bootstrap-token-support/bootstrap-token.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { CLUSTER_INFO, QUEUE_NAME, SERVICE_ACCOUNT, WORKERS } from './config.ts'
import { reconcile } from './reconcile.ts'
import type { ObservedClusterInfo } from './reconcile.ts'
import { configMapWatch, secretWatch } from './watches.ts'

export const bootstrapSignerController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'bootstrap-signer-controller',
  aliases: ['bootstrapsigner'],
  enabledByDefault: false,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(bootstrapSignerLogic(context), context),
}

export function bootstrapSignerLogic({
  informers,
  logger,
}: Pick<ControllerContext, 'informers' | 'logger'>): KeyedController<ObservedClusterInfo> {
  const configMaps = informers.informer(resources.configmaps).lister
  const secrets = informers.informer(resources.secrets).lister
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    watches: [configMapWatch, secretWatch],
    observe(key) {
      const configMap = configMaps.getByKey(key)
      if (configMap === undefined) return undefined
      const tokens = secrets
        .list(TOKEN_NAMESPACE)
        .filter(isTokenSecret)
        .sort((a, b) => compareStrings(keyOf(a), keyOf(b)))
      return { configMap, tokens }
    },
    reconcile: (observed) =>
      reconcile(observed, (error) => {
        logger.verbosity(3).info('Error updating ConfigMap', { configMap: CLUSTER_INFO, error })
      }),
  }
}
