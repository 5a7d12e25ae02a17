// What it costs a garbage collector to read very many objects with owners into its graph, and to take away the dependents of some.
// Run it with the one manager and with the other, and compare.
//
//   node benchmarks/controllers/owned-objects.ts --server URL --token TOKEN [--count 100000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and preferably --controllers=garbage-collector-controller.
import { resources } from '@gyropilot/api'
import type { ConfigMap } from '@gyropilot/api'
import { countOf, measuredRun } from './measured/measured-run.ts'
import { forEach } from './measured/phases.ts'

const OWNERS = 100

await measuredRun(
  'owned-objects',
  100_000,
  async ({ client, namespace, count, startManager, phase }) => {
    const configMaps = client.resource(resources.configmaps, namespace)
    const uids: string[] = []
    for (let index = 0; index < OWNERS; index += 1) {
      const { metadata } = await configMaps.create({ metadata: { name: `owner-${index}` } })
      uids.push(metadata!.uid!)
    }
    const dependent = (index: number): ConfigMap => {
      const owner = index % OWNERS
      const reference = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        name: `owner-${owner}`,
        uid: uids[owner]!,
      }
      const labels = { owner: String(owner) }
      return { metadata: { name: `d-${index}`, labels, ownerReferences: [reference] } }
    }
    await forEach(count, (index) => configMaps.create(dependent(index)))

    const areGone = (owner: number) => async () =>
      (await countOf(client, resources.configmaps, namespace, `owner=${owner}`)) === 0
    await phase(
      `${count} objects read, ${count / OWNERS} gone`,
      async () => {
        await configMaps.delete('owner-0')
        await startManager()
      },
      areGone(0),
    )
    await phase(`${count / OWNERS} more`, () => configMaps.delete('owner-1'), areGone(1))
  },
)
