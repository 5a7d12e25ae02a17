// A cloud-controller-manager with a provider of its own, as somebody else would write it: `node fake-cloud-manager.ts --cloud-provider=fake ...`
import { ProviderRegistry } from '@gyropilot/cloud-provider'
import { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import { cloudControllerManager, runProgram } from '@gyropilot/manager/cloud'

const providers = new ProviderRegistry().register(
  'fake',
  ({ clock }) =>
    new InMemoryCloud({
      clock,
      name: 'fake',
      machineOf: (nodeName) =>
        nodeName.startsWith('gone')
          ? undefined
          : {
              instanceType: 'small',
              zone: 'zone-a',
              region: 'region-1',
              addresses: [{ type: 'ExternalIP', address: '203.0.113.200' }],
            },
    }),
)
await runProgram(cloudControllerManager(providers), process.argv.slice(2))
