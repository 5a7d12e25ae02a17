/**
 * pod-garbage-collector-controller: deletes pods that nothing else will remove.
 * Contract: docs/behaviour/controllers/pod-garbage-collector-controller.md.
 */
import type { ControllerDescriptor } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { CLIENT_IDENTITY } from './config.ts'
import { PodGarbageCollector } from './pod-garbage-collector.ts'

export const podGarbageCollectorController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'pod-garbage-collector-controller',
  aliases: ['podgc'],
  enabledByDefault: true,
  serviceAccount: CLIENT_IDENTITY,
  build(context) {
    const { terminatedPodThreshold } = context.configuration.podGarbageCollector
    return new PodGarbageCollector(context, terminatedPodThreshold)
  },
}
