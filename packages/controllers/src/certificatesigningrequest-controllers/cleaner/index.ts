/**
 * certificatesigningrequest-cleaner-controller: takes away requests that are over.
 * Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md.
 */
import { keyOf, resources } from '@gyropilot/api'
import { runPeriodicController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  PeriodicController,
} from '@gyropilot/runtime'
import { CLIENT_IDENTITY } from '../config.ts'
import type { ControllersConfiguration } from '../../configuration.ts'
import { cleanUp } from './clean-up.ts'

/** From the end of one scan to the beginning of the next. */
const SCAN_PERIOD_MS = 3_600_000

export const certificateCleanerController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'certificatesigningrequest-cleaner-controller',
  aliases: ['csrcleaner'],
  enabledByDefault: true,
  serviceAccount: CLIENT_IDENTITY,
  build: (context) => runPeriodicController(certificateCleanerLogic(context), context),
}

export function certificateCleanerLogic({
  informers,
  logger,
}: Pick<ControllerContext, 'informers' | 'logger'>): PeriodicController {
  const { lister } = informers.informer(resources.certificatesigningrequests)
  return {
    periodMs: SCAN_PERIOD_MS,
    // A first scan of an empty cache finds nothing, and the next one everything.
    caches: [],
    round: () =>
      cleanUp(lister, (request, error) =>
        logger.error(error, 'Deleting a certificate request failed', { request: keyOf(request) }),
      ),
  }
}
