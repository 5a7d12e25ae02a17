/** token-cleaner-controller: deletes bootstrap tokens that are over. Contract: docs/behaviour/controllers/token-cleaner-controller.md. */
import { keyOf, resources } from '@gyropilot/api'
import type { Secret } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { isTokenSecret } from '../bootstrap-token-support/bootstrap-token.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { QUEUE_NAME, RESYNC_PERIOD_MS, SERVICE_ACCOUNT, WORKERS } from './config.ts'
import { reconcile } from './reconcile.ts'

export const tokenCleanerController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'token-cleaner-controller',
  aliases: ['tokencleaner'],
  enabledByDefault: false,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(tokenCleanerLogic(context), context),
}

export function tokenCleanerLogic({
  informers,
  logger,
}: Pick<ControllerContext, 'informers' | 'logger'>): KeyedController<Secret> {
  const secrets = informers.informer(resources.secrets)
  const keys = (secret: Secret): readonly string[] => (isTokenSecret(secret) ? [keyOf(secret)] : [])
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    watches: [
      {
        type: resources.secrets,
        resyncPeriodMs: RESYNC_PERIOD_MS,
        onAdd: keys,
        onUpdate: (_, current) => keys(current),
      },
    ],
    observe: (key) => secrets.lister.getByKey(key),
    reconcile: (secret) =>
      reconcile(secret, (error) => {
        const { namespace, name } = secret.metadata ?? {}
        logger.verbosity(3).info('Error deleting secret', { secret: `${namespace}/${name}`, error })
      }),
  }
}
