// What it costs a controller manager to keep the quotas of very many namespaces while objects are made in all of them.
// Run it with the one manager and with the other, and compare.
//
//   node benchmarks/controllers/quotas.ts --server URL --token TOKEN [--count 1000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and preferably --controllers=resourcequota-controller.
import { resources } from '@gyropilot/api'
import { measuredRun } from './measured/measured-run.ts'
import { forEach } from './measured/phases.ts'

const OBJECTS_EACH = 20

await measuredRun('quotas', 1000, async ({ client, namespace, count, startManager, phase }) => {
  const nameOf = (index: number): string => `${namespace}-${index}`
  const used = (wanted: number) => async () => {
    let reached = 0
    for (const { metadata, status } of (await client.resource(resources.resourcequotas).list({}))
      .items)
      if (
        metadata?.namespace?.startsWith(namespace) &&
        Number(status?.used?.['count/secrets']) === wanted
      )
        reached += 1
    return reached === count
  }
  const hard = { 'count/secrets': '100', pods: '10', 'requests.cpu': '4', services: '10' }
  await forEach(count, (index) =>
    client.resource(resources.namespaces).create({ metadata: { name: nameOf(index) } }),
  )
  await startManager()
  await phase(
    `${count} quotas`,
    () =>
      forEach(count, (index) =>
        client
          .resource(resources.resourcequotas, nameOf(index))
          .create({ metadata: { name: 'q' }, spec: { hard } }),
      ),
    used(0),
  )
  await phase(
    `${OBJECTS_EACH} objects in each`,
    () =>
      forEach(count * OBJECTS_EACH, (index) =>
        client
          .resource(resources.secrets, nameOf(index % count))
          .create({ metadata: { name: `c-${index}` } }),
      ),
    used(OBJECTS_EACH),
  )
  await phase(
    'all of them deleted',
    () =>
      forEach(count, (index) =>
        client.resource(resources.secrets, nameOf(index)).deleteCollection(),
      ),
    used(0),
  )
})
