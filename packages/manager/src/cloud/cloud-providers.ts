import { ProviderRegistry } from '@gyropilot/cloud-provider'

/**
 * The providers that come with this program, each with what it needs of the real world: one line each. A program of somebody's
 * own makes a registry of its own and hands it to `cloudControllerManager`.
 */
export function cloudProviders(): ProviderRegistry {
  return new ProviderRegistry().register('loopback', async ({ clock, logger, config }) => {
    const [{ LoopbackCloud, loopbackConfig }, { machineNetwork }, { dialledPods }] =
      await Promise.all([
        import('@gyropilot/cloud-loopback'),
        import('@gyropilot/cloud-loopback/network'),
        import('@gyropilot/cloud-loopback/dialled-pods'),
      ])
    return new LoopbackCloud({
      clock,
      logger,
      config: loopbackConfig(config),
      network: machineNetwork,
      pods: dialledPods,
    })
  })
}
