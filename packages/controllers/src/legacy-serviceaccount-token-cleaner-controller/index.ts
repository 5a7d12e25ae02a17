/**
 * legacy-serviceaccount-token-cleaner-controller: takes away tokens in Secrets that nobody uses.
 * Contract: docs/behaviour/controllers/legacy-serviceaccount-token-cleaner-controller.md.
 */
import { keyOf, resources } from '@gyropilot/api'
import { formatGoDuration } from '@gyropilot/foundation'
import { runPeriodicController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  PeriodicController,
} from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { cleanUp } from './clean-up.ts'
import { CLIENT_IDENTITY, RUN_PERIOD_MS } from './config.ts'

type Context = ControllerContext<ControllersConfiguration>

export const legacyTokenCleanerController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'legacy-serviceaccount-token-cleaner-controller',
  aliases: ['legacy-service-account-token-cleaner'],
  enabledByDefault: true,
  serviceAccount: CLIENT_IDENTITY,
  build: (context) => runPeriodicController(legacyTokenCleanerLogic(context), context),
}

export function legacyTokenCleanerLogic({
  informers,
  configuration,
  logger,
}: Pick<Context, 'informers' | 'configuration' | 'logger'>): PeriodicController {
  const { cleanUpPeriodMs } = configuration.legacyTokenCleaner
  if (cleanUpPeriodMs <= 0)
    throw new Error(
      `failed to init the legacy service account token cleaner: invalid CleanUpPeriod: ${formatGoDuration(cleanUpPeriodMs)}`,
    )
  const accounts = informers.informer(resources.serviceaccounts)
  const secrets = informers.informer(resources.secrets)
  const pods = informers.informer(resources.pods)
  return {
    periodMs: RUN_PERIOD_MS,
    caches: [accounts, secrets, pods],
    round: () =>
      cleanUp({
        accounts: accounts.lister,
        secrets: secrets.lister,
        pods: pods.lister,
        cleanUpPeriodMs,
        onFailure: (secret, error) =>
          logger.error(error, 'Cleaning up a token failed', { secret: keyOf(secret) }),
      }),
  }
}
