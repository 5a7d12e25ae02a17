/**
 * The metrics of pods and one external metric as custom resources, which autoscalers read by the paths that a metrics server has. The
 * recordings were made with the same definitions.
 */
import { resources } from '@gyropilot/api'
import type { Cluster } from '@gyropilot/cluster'

const DEFINED = [
  { group: 'metrics.k8s.io', plural: 'pods', kind: 'PodMetrics' },
  { group: 'external.metrics.k8s.io', plural: 'queue', kind: 'ExternalMetricValue' },
]

export async function serveMetrics(cluster: Cluster): Promise<void> {
  const definitions = cluster.client().resource(resources.customresourcedefinitions)
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  for (const { group, plural, kind } of DEFINED) {
    await definitions.create({
      metadata: {
        name: `${plural}.${group}`,
        annotations: { 'api-approved.kubernetes.io': 'unapproved, in the place of a metrics server' },
      },
      spec: {
        group,
        names: { plural, kind },
        scope: 'Namespaced',
        versions: [{ name: 'v1beta1', served: true, storage: true, schema: { openAPIV3Schema: open } }],
      },
    })
  }
}
