import { ProviderRegistry } from '@gyropilot/cloud-provider'

/**
 * The providers that come with this program, each with what it needs of the real world: one line each. A program of somebody's
 * own makes a registry of its own and hands it to `cloudControllerManager`.
 */
export function cloudProviders(): ProviderRegistry {
  return new ProviderRegistry()
}
