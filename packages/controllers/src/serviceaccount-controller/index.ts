/**
 * serviceaccount-controller: every active namespace has a `default` account.
 * Contract: docs/behaviour/controllers/serviceaccount-controller.md.
 */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { CLIENT_IDENTITY, ENSURED_ACCOUNTS, QUEUE_NAME, WORKERS } from './config.ts'
import { observe } from './observe.ts'
import type { ObservedNamespace } from './observe.ts'
import { reconcile } from './reconcile.ts'
import { namespaceWatch, serviceAccountWatch } from './watches.ts'

export const serviceAccountController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'serviceaccount-controller',
  aliases: ['serviceaccount'],
  enabledByDefault: true,
  serviceAccount: CLIENT_IDENTITY,
  isWaitedFor: true,
  build: (context) => runKeyedController(serviceAccountLogic(context), context),
}

function serviceAccountLogic({ informers }: ControllerContext): KeyedController<ObservedNamespace> {
  const listers = {
    namespaces: informers.informer(resources.namespaces).lister,
    serviceAccounts: informers.informer(resources.serviceaccounts).lister,
  }
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    watches: [namespaceWatch, serviceAccountWatch],
    observe: (key) => observe(key, listers, ENSURED_ACCOUNTS),
    reconcile,
  }
}
