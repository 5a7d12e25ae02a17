/**
 * service-cidr-controller: keeps ranges of service addresses until nobody needs them.
 * Contract: docs/behaviour/controllers/service-cidr-controller.md.
 */
import { resources } from '@gyropilot/api'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { EVENT_COMPONENT, MAX_RETRIES, QUEUE_NAME, SERVICE_ACCOUNT, WORKERS } from './config.ts'
import { reconcile } from './reconcile.ts'
import type { ObservedServiceCidr } from './reconcile.ts'
import { addressWatch, serviceCidrWatch } from './watches.ts'

export const serviceCidrController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'service-cidr-controller',
  aliases: [],
  enabledByDefault: true,
  featureGates: ['MultiCIDRServiceAllocator'],
  serviceAccount: SERVICE_ACCOUNT,
  build: (context) => runKeyedController(serviceCidrLogic(context), context),
}

export function serviceCidrLogic({
  informers,
}: Pick<ControllerContext, 'informers'>): KeyedController<ObservedServiceCidr> {
  const serviceCidrs = informers.informer(resources.servicecidrs).lister
  const addresses = informers.informer(resources.ipaddresses).lister
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: WORKERS,
    maxRetries: MAX_RETRIES,
    watches: [serviceCidrWatch(serviceCidrs), addressWatch(serviceCidrs)],
    observe(key) {
      const serviceCidr = serviceCidrs.getByKey(key)
      const use = { serviceCidrs: serviceCidrs.list(), addresses: () => addresses.list() }
      return serviceCidr && { serviceCidr, use }
    },
    reconcile,
  }
}
