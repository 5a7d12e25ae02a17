// A burst of changes: what it costs a controller manager when the template of every Deployment changes at once, as a new registry
// or a rotated secret makes people do. Run it with the one manager and with the other, and compare.
//
//   node benchmarks/controllers/changed-deployments.ts --server URL --token TOKEN [--count 10000] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT. The Deployments have no pods: what is measured is how
// their changes are looked at and written, each a new ReplicaSet and its statuses.
import { resources } from '@gyropilot/api'
import type { Deployment } from '@gyropilot/api'
import { measuredRun } from './measured/measured-run.ts'
import { forEach } from './measured/phases.ts'

const PAGE = 500

await measuredRun('changed', 10_000, async ({ client, namespace, count, startManager, ...run }) => {
  const deployments = client.resource(resources.deployments, namespace)
  const deployment = (name: string): Deployment => {
    const labels = { app: name }
    return {
      metadata: { name },
      spec: {
        replicas: 0,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'img:1' }] } },
      },
    } as Deployment
  }
  /** All have the ReplicaSet of what is wanted now, and say so. */
  const areObserved = async (generation: number): Promise<boolean> => {
    let continueFrom: string | undefined
    do {
      const page = await deployments.list({ limit: PAGE, continue: continueFrom })
      const isDone = ({ status }: Deployment): boolean =>
        (status?.observedGeneration ?? 0) >= generation &&
        status?.conditions?.find(({ type }) => type === 'Progressing')?.reason ===
          'NewReplicaSetAvailable'
      if (!page.items.every(isDone)) return false
      continueFrom = page.metadata.continue
    } while (continueFrom)
    return true
  }
  await startManager()
  await run.phase(
    `${count} Deployments made`,
    () => forEach(count, (index) => deployments.create(deployment(`d-${index}`))),
    () => areObserved(1),
  )
  const value = { spec: { template: { metadata: { annotations: { changed: 'once' } } } } }
  await run.phase(
    'the template of each changed',
    () => forEach(count, (index) => deployments.patch(`d-${index}`, { type: 'merge', value })),
    () => areObserved(2),
  )
  console.log(`event loop late: ${await run.stalls()}`)
})
