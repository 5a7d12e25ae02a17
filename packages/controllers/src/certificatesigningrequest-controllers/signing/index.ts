/**
 * certificatesigningrequest-signing-controller: issues certificates for the signers that Kubernetes has itself.
 * Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md.
 */
import { resources } from '@gyropilot/api'
import type { CertificateSigningRequest } from '@gyropilot/api'
import { errorText, integerBetween } from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import { exponentialAndBucket, runKeyedController } from '@gyropilot/runtime'
import type { ControllerContext, ControllerDescriptor, KeyedController } from '@gyropilot/runtime'
import { CLIENT_IDENTITY, QUEUE_NAME, RETRY_BASE_MS, RETRY_MAX_MS, WORKERS } from '../config.ts'
import { requestWatch } from '../watches.ts'
import type { ControllersConfiguration } from '../../configuration.ts'
import { FollowedAuthority } from './authority.ts'
import { SIGNER_NAMES } from './config.ts'
import type { AuthoritySource, SignerName } from './config.ts'
import { reconcile } from './reconcile.ts'

type Context = ControllerContext<ControllersConfiguration>

const SERIAL_NUMBER_BYTES = 16

export const certificateSigningController: ControllerDescriptor<ControllersConfiguration> = {
  name: 'certificatesigningrequest-signing-controller',
  aliases: ['csrsigning'],
  enabledByDefault: true,
  serviceAccount: CLIENT_IDENTITY,
  async build(context) {
    const { authorities } = context.configuration.certificateSigning
    const signers = SIGNER_NAMES.filter((name) => authorities[name] !== undefined)
    if (signers.length === 0) return undefined
    const { clock, logger } = context
    // One of several signers is read and followed once.
    const followed = new Map(
      await Promise.all(
        [...new Set(signers.map((name) => authorities[name]!))].map(async (source) => {
          const name = signers.find((signer) => authorities[signer] === source)!
          return [source, await authorityOf(name, source, logger)] as const
        }),
      ),
    )
    const loops = signers.map((name) =>
      runKeyedController(
        certificateSigningLogic(name, followed.get(authorities[name]!)!, context),
        context,
      ),
    )
    return {
      run: async (signal) => {
        const follow = [...followed.values()].map((authority) => authority.follow(clock, signal))
        await Promise.all([...follow, ...loops.map((loop) => loop.run(signal))])
      },
    }
  },
}

/** Rejects, in upstream's words, with the first signer that has the source. */
async function authorityOf(
  name: SignerName,
  source: AuthoritySource,
  logger: Logger,
): Promise<FollowedAuthority> {
  try {
    return await FollowedAuthority.of(source, logger)
  } catch (error) {
    const message = `failed to init ${name} certificate controller: ${errorText(error)}`
    throw new Error(message, { cause: error })
  }
}

/** A signer with a queue of its own: each sees all requests. */
export function certificateSigningLogic(
  name: SignerName,
  authority: Pick<FollowedAuthority, 'current'>,
  { informers, clock, random, configuration }: Context,
): KeyedController<CertificateSigningRequest> {
  const { lister } = informers.informer(resources.certificatesigningrequests)
  const serials = random.fork(`serial-numbers/${name}`)
  const signer = {
    name,
    durationMs: configuration.certificateSigning.durationMs,
    authority: () => authority.current(),
    serialNumber: () =>
      Uint8Array.from({ length: SERIAL_NUMBER_BYTES }, () => integerBetween(serials, 0, 256)),
  }
  return {
    queueName: QUEUE_NAME,
    workers: WORKERS,
    rateLimiter: exponentialAndBucket(clock, RETRY_BASE_MS, RETRY_MAX_MS),
    watches: [requestWatch],
    observe: (key) => lister.getByKey(key),
    reconcile: (object) => reconcile(object, signer),
  }
}
