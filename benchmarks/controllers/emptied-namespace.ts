// What it costs a controller manager to empty a namespace of Deployments with their pods and of ConfigMaps. Run it with the one
// manager and with the other, and compare.
//
//   node benchmarks/controllers/emptied-namespace.ts --server URL --token TOKEN [--count 3000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and all controllers: what each of them does while
// the others' objects go is what is measured.
import { resources } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { countOf, measuredRun } from './measured/measured-run.ts'
import { forEach } from './measured/phases.ts'

const DEPLOYMENTS = 100
const CONFIG_MAPS = 500

await measuredRun('emptied', 3000, async ({ client, namespace, count, startManager, phase }) => {
  const labels = (name: string) => ({ app: name })
  const container = { name: 'c', image: 'img:1', resources: { requests: { cpu: '10m' } } }
  const deployment = (name: string) => ({
    metadata: { name },
    spec: {
      replicas: count / DEPLOYMENTS,
      selector: { matchLabels: labels(name) },
      template: { metadata: { labels: labels(name) }, spec: { containers: [container] } },
    },
  })
  await startManager()
  await phase(
    `${DEPLOYMENTS} Deployments of ${count / DEPLOYMENTS}, ${CONFIG_MAPS} ConfigMaps`,
    async () => {
      await forEach(DEPLOYMENTS, (index) =>
        client.resource(resources.deployments, namespace).create(deployment(`d-${index}`)),
      )
      await forEach(CONFIG_MAPS, (index) =>
        client
          .resource(resources.configmaps, namespace)
          .create({ metadata: { name: `c-${index}` } }),
      )
    },
    async () => (await countOf(client, resources.pods, namespace)) === count,
  )
  await phase(
    'the namespace deleted',
    () => client.resource(resources.namespaces).delete(namespace),
    async () => {
      try {
        await client.resource(resources.namespaces).get(namespace)
        return false
      } catch (error) {
        if (isNotFound(error)) return true
        throw error
      }
    },
  )
})
