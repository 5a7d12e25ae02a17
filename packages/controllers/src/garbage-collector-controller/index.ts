/** garbage-collector-controller: deletes what nobody owns any longer. Contract: docs/behaviour/controllers/garbage-collector-controller.md. */
import type { ControllerDescriptor } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { SERVICE_ACCOUNT } from './config.ts'
import { GarbageCollector } from './garbage-collector.ts'

export const garbageCollectorController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'garbage-collector-controller',
  aliases: ['garbagecollector'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  clientRate: { qpsFactor: 2, burstFactor: 1 },
  build(context) {
    const { enableGarbageCollector, concurrentGcSyncs } = context.configuration.garbageCollector
    return enableGarbageCollector ? new GarbageCollector(context, concurrentGcSyncs) : undefined
  },
}
