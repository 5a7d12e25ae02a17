// Whether a controller manager grows while things come and go for an hour. Each second something is made and what was made half a
// round ago is deleted, so that there is always as much; each fifth minute its memory is printed. Run it with the one manager and
// with the other, and compare.
//
//   node benchmarks/controllers/churn.ts --server URL --token TOKEN [--count MINUTES] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and all controllers. No nodes are needed.
import { resources } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { isNotFound } from '@gyropilot/client'
import { measuredRun } from './measured/measured-run.ts'

const EVERY_MS = 1_000
const REPORT_EVERY_MINUTES = 5
/** So many seconds after it was made a thing is deleted. */
const AGE = 60

interface Thing {
  make(client: Client, namespace: string, name: string): Promise<unknown>
  remove(client: Client, namespace: string, name: string): Promise<unknown>
}

const template = (name: string) => ({
  metadata: { labels: { app: name } },
  spec: { restartPolicy: 'Always' as const, containers: [{ name: 'c', image: 'img:1' }] },
})
const apps = (name: string) => ({
  metadata: { name },
  spec: { replicas: 5, selector: { matchLabels: { app: name } }, template: template(name) },
})

const THINGS: readonly Thing[] = [
  {
    make: (client, namespace, name) =>
      client.resource(resources.deployments, namespace).create(apps(name)),
    remove: (client, namespace, name) =>
      client.resource(resources.deployments, namespace).delete(name),
  },
  {
    make: (client, namespace, name) =>
      client
        .resource(resources.statefulsets, namespace)
        .create({ ...apps(name), spec: { ...apps(name).spec, serviceName: name } }),
    remove: (client, namespace, name) =>
      client.resource(resources.statefulsets, namespace).delete(name),
  },
  {
    make: (client, namespace, name) => {
      const { spec } = template(name)
      return client.resource(resources.jobs, namespace).create({
        metadata: { name },
        spec: { template: { spec: { ...spec, restartPolicy: 'Never' } } },
      })
    },
    remove: (client, namespace, name) =>
      client.resource(resources.jobs, namespace).delete(name, { propagationPolicy: 'Foreground' }),
  },
  {
    make: (client, namespace, name) =>
      client.resource(resources.services, namespace).create({
        metadata: { name },
        spec: { selector: { app: name }, ports: [{ port: 80 }] },
      }),
    remove: (client, namespace, name) =>
      client.resource(resources.services, namespace).delete(name),
  },
  {
    make: (client, _, name) => client.resource(resources.namespaces).create({ metadata: { name } }),
    remove: (client, _, name) => client.resource(resources.namespaces).delete(name),
  },
]

await measuredRun('churn', 60, async ({ client, namespace, count, startManager, cost }) => {
  await startManager()
  const startedMs = performance.now()
  const nameOf = (step: number): string => `${namespace}-${step}`
  console.log('minute   CPU, s   resident, MiB   peak, MiB')
  for (let step = 0, reported = -1; ; step++) {
    const minute = Math.floor((performance.now() - startedMs) / 60_000)
    if (minute % REPORT_EVERY_MINUTES === 0 && minute > reported) {
      reported = minute
      const { cpuSeconds, residentMebibytes, peakMebibytes } = await cost()
      const cells = [
        String(minute).padStart(6),
        cpuSeconds.toFixed(1).padStart(8),
        residentMebibytes.toFixed(0).padStart(15),
        peakMebibytes.toFixed(0).padStart(11),
      ]
      console.log(cells.join(' '))
    }
    if (minute >= count) break
    await THINGS[step % THINGS.length]!.make(client, namespace, nameOf(step))
    if (step >= AGE) await removed(step - AGE)
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
  }

  async function removed(step: number): Promise<void> {
    try {
      await THINGS[step % THINGS.length]!.remove(client, namespace, nameOf(step))
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
})
