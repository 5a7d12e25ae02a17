/**
 * resourcepoolstatusrequest-controller: tells once how many devices pools have, and how many of them are taken.
 * Contract: docs/behaviour/controllers/resourcepoolstatusrequest-controller.md.
 */
import { keyOf, resources } from '@gyropilot/api'
import { runKeyedController, runPeriodicController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  PeriodicController,
} from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { cleanUp } from './clean-up.ts'
import {
  CLEAN_UP_PERIOD_MS,
  FEATURE_GATE,
  MAX_RETRIES,
  SERVICE_ACCOUNT,
  WORKERS,
} from './config.ts'
import { answerMetrics } from './metrics.ts'
import { POOL_STATUS_REQUESTS } from './pool-status-request.ts'
import { reconcile } from './reconcile.ts'
import type { ObservedRequest } from './reconcile.ts'
import { requestWatch } from './watches.ts'

export const resourcePoolStatusRequestController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'resourcepoolstatusrequest-controller',
  aliases: [],
  enabledByDefault: true,
  featureGates: [FEATURE_GATE],
  serviceAccount: SERVICE_ACCOUNT,
  build(context) {
    // An alpha gate: who says nothing has it off, and no informer may ask for what is not served.
    if (context.configuration.featureGates[FEATURE_GATE] !== true) return undefined
    const answers = runKeyedController(poolStatusRequestLogic(context), context)
    const cleanUps = runPeriodicController(cleanUpLogic(context), context)
    return {
      async run(signal) {
        await Promise.all([answers.run(signal), cleanUps.run(signal)])
      },
    }
  },
}

export function poolStatusRequestLogic({
  informers,
  metrics,
}: Pick<ControllerContext, 'informers' | 'metrics'>): KeyedController<ObservedRequest> {
  const requests = informers.informer(POOL_STATUS_REQUESTS)
  const slices = informers.informer(resources.resourceslices)
  const claims = informers.informer(resources.resourceclaims)
  const onAnswered = answerMetrics(metrics)
  return {
    workers: WORKERS,
    maxRetries: MAX_RETRIES,
    watches: [requestWatch],
    alsoAwait: [slices, claims],
    observe(name) {
      const request = requests.lister.getByKey(name)
      return (
        request && {
          request,
          slices: () => slices.lister.list(),
          claims: () => claims.lister.list(),
        }
      )
    },
    reconcile: (observed) => reconcile(observed, onAnswered),
  }
}

export function cleanUpLogic({
  informers,
  logger,
}: Pick<ControllerContext, 'informers' | 'logger'>): PeriodicController {
  const requests = informers.informer(POOL_STATUS_REQUESTS)
  return {
    periodMs: CLEAN_UP_PERIOD_MS,
    caches: [requests],
    round: () =>
      cleanUp(
        () => requests.lister.list(),
        (request, error) =>
          logger.error(error, 'Deleting an expired request failed', { request: keyOf(request) }),
      ),
  }
}
