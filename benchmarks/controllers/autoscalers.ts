// What very many HorizontalPodAutoscalers cost a controller manager for a minute. Metrics are custom resources that this script
// makes under the names of the metrics API. Run it with the one manager and with the other, and compare.
//
//   node benchmarks/controllers/autoscalers.ts --server URL --token TOKEN [--count 500] -- COMMAND ARGS...
//
// COMMAND starts a controller manager of that server, with --secure-port=PORT and --controllers=horizontal-pod-autoscaler-controller.
// The server must not have the metrics API already.
import { resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import { measuredRun } from './measured/measured-run.ts'
import { forEach } from './measured/phases.ts'

const PODS_EACH = 2
const MINUTE_MS = 60_000

const podMetrics: ResourceType = {
  group: 'metrics.k8s.io',
  version: 'v1beta1',
  resource: 'pods',
  kind: 'PodMetrics',
  namespaced: true,
}

await measuredRun('autoscalers', 500, async ({ client, namespace, count, startManager, phase }) => {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  await client.resource(resources.customresourcedefinitions).create({
    metadata: {
      name: 'pods.metrics.k8s.io',
      annotations: { 'api-approved.kubernetes.io': 'unapproved, benchmark' },
    },
    spec: {
      group: 'metrics.k8s.io',
      scope: 'Namespaced',
      names: { plural: 'pods', kind: 'PodMetrics' },
      versions: [
        { name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema: open } },
      ],
    },
  })
  await client
    .resource(resources.serviceaccounts, namespace)
    .create({ metadata: { name: 'default' } })
  const requests = { cpu: '100m' }
  const container = { name: 'c', image: 'img:1', resources: { requests } }
  await forEach(count, async (index) => {
    const name = `d-${index}`
    const labels = { app: name }
    const template = { metadata: { labels }, spec: { containers: [container] } }
    await client.resource(resources.deployments, namespace).create({
      metadata: { name },
      spec: { replicas: PODS_EACH, selector: { matchLabels: labels }, template },
    })
    await client
      .resource(resources.deployments, namespace)
      .patch(
        name,
        { type: 'merge', value: { status: { replicas: PODS_EACH } } },
        { subresource: 'status' },
      )
    for (let pod = 0; pod < PODS_EACH; pod += 1) {
      const metadata = { name: `${name}-${pod}`, labels }
      await client.resource(resources.pods, namespace).create({ metadata, spec: template.spec })
      const since = '2026-01-01T00:00:00Z'
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: since }]
      const status = { phase: 'Running', startTime: since, conditions }
      await client
        .resource(resources.pods, namespace)
        .patch(metadata.name, { type: 'merge', value: { status } }, { subresource: 'status' })
      await client.resource(podMetrics, namespace).create({
        metadata,
        timestamp: since,
        window: '30s',
        containers: [{ name: 'c', usage: { cpu: '50m', memory: '10Mi' } }],
      } as never)
    }
    await client.resource(resources.horizontalpodautoscalers, namespace).create({
      metadata: { name },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
        minReplicas: 1,
        maxReplicas: 10,
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
          },
        ],
      },
    })
  })
  await startManager()
  const allJudged = async (): Promise<boolean> =>
    (await client.resource(resources.horizontalpodautoscalers, namespace).list({})).items.every(
      ({ status }) => status?.currentMetrics?.[0]?.resource?.current.averageUtilization === 50,
    )
  await phase(`${count} judged for the first time`, () => Promise.resolve(), allJudged)
  await phase(
    'one minute',
    () => new Promise((resolve) => setTimeout(resolve, MINUTE_MS)),
    allJudged,
  )
})
