import { cloudProviderErrors } from '@gyropilot/cloud-provider'
import type { CloudProvider, ProviderSurroundings } from '@gyropilot/cloud-provider'
import { errorText } from '@gyropilot/foundation'
import type { LeaderSurroundings } from '../program.ts'

/** What a provider is told on the leader. Rejects with CLOUD_PROVIDER_FAILED. */
export async function initialize(
  provider: CloudProvider,
  { client, informers, signal }: LeaderSurroundings,
  { clock, random, logger }: Pick<ProviderSurroundings, 'clock' | 'random' | 'logger'>,
): Promise<void> {
  try {
    await provider.initialize?.({
      client,
      clock,
      random: random.fork(`cloud-provider/${provider.name}/initialize`),
      logger: logger.named('cloud-provider'),
      signal,
    })
    provider.setInformers?.(informers)
  } catch (error) {
    const what = `could not initialize cloud provider ${JSON.stringify(provider.name)}`
    const message = `${what}: ${errorText(error)}`
    throw cloudProviderErrors.make('CLOUD_PROVIDER_FAILED', message, { cause: error })
  }
}
