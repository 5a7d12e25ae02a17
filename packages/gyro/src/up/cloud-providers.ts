import { ProviderRegistry } from '@gyropilot/cloud-provider'
import { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'

/** The clouds that `gyro up` knows, each with what it needs of the real world: one line each. */
export function cloudProviders(): ProviderRegistry {
  return new ProviderRegistry().register('in-memory', ({ clock }) => tables(clock))
}

/** Every simulated node has a machine. Addresses of balancers lead nowhere: it is there to look on. */
function tables(clock: ConstructorParameters<typeof InMemoryCloud>[0]['clock']): InMemoryCloud {
  return new InMemoryCloud({
    clock,
    machineOf: (nodeName) =>
      /^node-\d+$/.test(nodeName)
        ? { instanceType: 'simulated.large', zone: 'zone-a', region: 'region-1' }
        : undefined,
  })
}
