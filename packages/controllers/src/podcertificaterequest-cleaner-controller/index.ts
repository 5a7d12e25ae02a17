/**
 * podcertificaterequest-cleaner-controller: takes away what kubelets asked a certificate for a pod with.
 * Contract: docs/behaviour/controllers/podcertificaterequest-cleaner-controller.md.
 */
import { keyOf } from '@gyropilot/api'
import { runPeriodicController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  PeriodicController,
} from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { cleanUp } from './clean-up.ts'
import { CLIENT_IDENTITY, FEATURE_GATE, SCAN_PERIOD_MS, podCertificateRequests } from './config.ts'

export const podCertificateRequestCleanerController: ControllerDescriptor<ControllersConfiguration> =
  {
    name: 'podcertificaterequest-cleaner-controller',
    aliases: [],
    enabledByDefault: true,
    featureGates: [FEATURE_GATE],
    serviceAccount: CLIENT_IDENTITY,
    build(context) {
      // Off unless somebody turned it on: where it is off the server knows no such type, and nobody may ask for it.
      if (context.configuration.featureGates[FEATURE_GATE] !== true) return undefined
      return runPeriodicController(podCertificateRequestCleanerLogic(context), context)
    },
  }

export function podCertificateRequestCleanerLogic({
  informers,
  logger,
}: Pick<ControllerContext, 'informers' | 'logger'>): PeriodicController {
  const { lister } = informers.informer(podCertificateRequests)
  return {
    periodMs: SCAN_PERIOD_MS,
    // A first scan of an empty cache finds nothing, and the next one everything.
    caches: [],
    round: () =>
      cleanUp(lister, (request, error) =>
        logger.error(error, 'Deleting a request for a pod certificate failed', {
          request: keyOf(request),
        }),
      ),
  }
}
