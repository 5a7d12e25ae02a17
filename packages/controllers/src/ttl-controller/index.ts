/** ttl-controller: tells kubelets how long to keep Secrets. Contract: docs/behaviour/controllers/ttl-controller.md. */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { QUEUE_NAME, SERVICE_ACCOUNT, WORKERS } from './config.ts'
import { reconcile } from './reconcile.ts'
import { TtlSteps } from './ttl-steps.ts'
import { nodeWatch } from './watches.ts'

export const ttlController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'ttl-controller',
  aliases: ['ttl'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(ttlLogic(context), context),
}

export function ttlLogic({
  informers,
}: Pick<ControllerContext, 'informers'>): KeyedController<Node> {
  const { lister } = informers.informer(resources.nodes)
  const steps = new TtlSteps()
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    watches: [nodeWatch(steps)],
    observe: (key) => lister.getByKey(key),
    reconcile: (node) => reconcile(node, steps.ttlSeconds),
  }
}
