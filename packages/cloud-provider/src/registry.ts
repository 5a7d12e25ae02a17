import { compareStrings, defineErrors, errorText, suggestion } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import type { CloudProvider } from './provider.ts'

/** Errors a user of a cloud provider can meet. */
export const cloudProviderErrors = defineErrors({
  CLOUD_PROVIDER_UNKNOWN: {
    exitCode: 1,
    meaning: '--cloud-provider names a cloud that no provider is registered for.',
    remedy: 'Choose one of the names in the message, or run a manager that has the provider.',
  },
  CLOUD_CLUSTER_ID_MISSING: {
    exitCode: 1,
    meaning: 'The cloud provider finds no mark of this cluster on its resources.',
    remedy:
      'Mark them as the provider asks for, or set --allow-untagged-cloud where no other cluster shares the account.',
  },
  CLOUD_PROVIDER_FAILED: {
    exitCode: 1,
    meaning: 'The provider could not be made from its --cloud-config, or not be initialised.',
    remedy: 'Correct the file as the message says; its form is the provider’s.',
  },
})

/** What a provider is made from. It touches nothing before `initialize`. */
export interface ProviderSettings {
  /** The text of --cloud-config; undefined where the flag is not set. */
  readonly config?: string
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
}

/** Throws, or rejects, for a config that it cannot read. */
export type ProviderFactory = (settings: ProviderSettings) => CloudProvider | Promise<CloudProvider>

/**
 * The clouds that a program knows, by name. There is one in each binary that runs cloud controllers, made there: what a
 * provider needs of the real world is handed to its factory before it is registered.
 */
export class ProviderRegistry {
  readonly #factories = new Map<string, ProviderFactory>()

  /** Throws for a name that is taken: two providers of one name are a mistake of the program. */
  register(name: string, factory: ProviderFactory): this {
    if (this.#factories.has(name)) throw new Error(`cloud provider ${name} is registered twice`)
    this.#factories.set(name, factory)
    return this
  }

  /** Sorted. */
  get names(): readonly string[] {
    return [...this.#factories.keys()].sort(compareStrings)
  }

  has(name: string): boolean {
    return this.#factories.has(name)
  }

  /** Rejects with CLOUD_PROVIDER_UNKNOWN or CLOUD_PROVIDER_FAILED. */
  async create(name: string, settings: ProviderSettings): Promise<CloudProvider> {
    const factory = this.#factories.get(name)
    if (factory === undefined) throw this.#unknown(name)
    try {
      return await factory(settings)
    } catch (error) {
      throw cloudProviderErrors.make(
        'CLOUD_PROVIDER_FAILED',
        `could not init cloud provider ${JSON.stringify(name)}: ${errorText(error)}`,
        { cause: error },
      )
    }
  }

  #unknown(name: string): Error {
    const known =
      this.names.length === 0 ? 'none is registered' : `registered: ${this.names.join(', ')}`
    return cloudProviderErrors.make(
      'CLOUD_PROVIDER_UNKNOWN',
      `unknown cloud provider ${JSON.stringify(name)}: ${known}${suggestion(name, this.names)}`,
    )
  }
}
