import { ProviderRegistry } from '@gyropilot/cloud-provider'
import { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import type { CloudParts } from './parts.ts'

/** Absent where only names are asked for. */
type PartsOrNone = CloudParts | undefined

/** The clouds that `gyro up` knows, each with what it needs of the real world: one line each. */
export function cloudProviders(parts?: PartsOrNone): ProviderRegistry {
  return new ProviderRegistry()
    .register('in-memory', ({ clock }) => tables(clock))
    .register('loopback', async (settings) => {
      // Only who asks for it waits for its code.
      const { loopbackCloud } = await import('./loopback-cloud.ts')
      return loopbackCloud(settings, parts!)
    })
}

/** Every simulated node has a machine. Addresses of balancers lead nowhere: it is there to look on. */
function tables(clock: ConstructorParameters<typeof InMemoryCloud>[0]['clock']): InMemoryCloud {
  return new InMemoryCloud({
    clock,
    keepsCalls: false,
    machineOf: (nodeName) =>
      /^node-\d+$/.test(nodeName)
        ? { instanceType: 'simulated.large', zone: 'zone-a', region: 'region-1' }
        : undefined,
  })
}
