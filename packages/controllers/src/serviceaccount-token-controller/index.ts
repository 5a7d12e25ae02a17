/**
 * serviceaccount-token-controller: fills Secrets that carry an account's token.
 * Contract: docs/behaviour/controllers/serviceaccount-token-controller.md.
 */
import { resources } from '@gyropilot/api'
import { jitter } from '@gyropilot/foundation'
import { runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import type { ControllersConfiguration } from '../configuration.ts'
import { observeAccount, reconcileAccount } from './account-sync.ts'
import type { OrphanedSecrets, TokenListers } from './account-sync.ts'
import { CLIENT_IDENTITY, MAX_RETRIES, QUEUE_NAME, REFERENCE_REMOVAL_PAUSE_MS } from './config.ts'
import { tokenSigner } from './legacy-token.ts'
import { observeSecret, reconcileSecret } from './secret-sync.ts'
import type { ObservedSecret, SecretSyncSettings } from './secret-sync.ts'
import { accountWatch, secretWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const serviceAccountTokenController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'serviceaccount-token-controller',
  aliases: ['serviceaccount-token'],
  enabledByDefault: true,
  // It may have to issue what the accounts of other controllers log in with.
  usesRootClient: true,
  serviceAccount: CLIENT_IDENTITY,
  build(context) {
    if (context.configuration.serviceAccountToken.privateKeyPem === '') return undefined
    const { accounts, secrets } = serviceAccountTokenLogic(context)
    const loops = [runKeyedController(accounts, context), runKeyedController(secrets, context)]
    return {
      run: async (signal) => {
        await Promise.all(loops.map((loop) => loop.run(signal)))
      },
    }
  },
}

/** Two queues: of accounts, and of Secrets. Throws when the private key cannot be used. */
function serviceAccountTokenLogic({ informers, configuration, random, logger }: Context): {
  readonly accounts: KeyedController<OrphanedSecrets>
  readonly secrets: KeyedController<ObservedSecret>
} {
  const { privateKeyPem, rootCaPem, concurrentTokenSyncs } = configuration.serviceAccountToken
  const accounts = informers.informer(resources.serviceaccounts)
  const secrets = informers.informer(resources.secrets)
  const listers: TokenListers = { accounts: accounts.lister, secrets: secrets.lister }
  const pauses = random.fork('reference-removal')
  const settings: SecretSyncSettings = {
    rootCaPem,
    sign: tokenSigner(privateKeyPem),
    pauseMs: () => jitter(pauses, REFERENCE_REMOVAL_PAUSE_MS, 1),
    onReferenceLeft: ({ namespace, name, accountName }, error) =>
      logger.error(error, 'Removing the reference to a Secret failed', {
        secret: `${namespace}/${name}`,
        serviceAccount: `${namespace}/${accountName}`,
      }),
  }
  const common = {
    queueName: QUEUE_NAME,
    workers: concurrentTokenSyncs,
    maxRetries: MAX_RETRIES,
    alsoAwait: [accounts, secrets],
  }
  return {
    accounts: {
      ...common,
      watches: [accountWatch],
      observe: (key) => observeAccount(key, listers),
      reconcile: reconcileAccount,
    },
    secrets: {
      ...common,
      watches: [secretWatch],
      observe: (key) => observeSecret(key, listers),
      reconcile: (observed) => reconcileSecret(observed, settings),
    },
  }
}
