/** ClusterRoles that are the sum of others. */
import type { ClusterRole } from '@gyropilot/api'
import { deepEqual, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 5_000
type Labels = Readonly<Record<string, string>>

const rule = (resource: string) => ({
  apiGroups: ['example.com'],
  resources: [resource],
  verbs: ['get'],
})

function part(name: string, labels: Labels, ...kinds: readonly string[]): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels },
    rules: kinds.map(rule),
  }
}

/** Has what the roles with each of these labels have. */
function sum(name: string, labels: Labels, ...selected: readonly Labels[]): ClusterRole {
  const clusterRoleSelectors = selected.map((matchLabels) => ({ matchLabels }))
  return { ...part(name, labels), aggregationRule: { clusterRoleSelectors } }
}

const change = (cluster: SimulatedCluster, name: string, value: object) =>
  cluster.patch(resources.clusterroles, undefined, name, { type: 'merge', value })

function* has(
  cluster: SimulatedCluster,
  name: string,
  ...kinds: readonly string[]
): Iterable<string> {
  const found = cluster.objects.find(resources.clusterroles, undefined, name)
  if (!deepEqual(found?.rules ?? [], kinds.map(rule)))
    yield `${name} has ${JSON.stringify(found?.rules)} and not ${kinds.join()}`
}

export const clusterRoleScenarios: readonly Scenario[] = [
  {
    name: 'roles that are sums follow their parts',
    controllers: ['clusterrole-aggregation-controller'],
    nodes: 0,
    async play(cluster) {
      await cluster.create(sum('shop', { 'to-all': 'true' }, { shop: 'late' }, { shop: 'early' }))
      await cluster.create(sum('all', {}, { 'to-all': 'true' }))
      await cluster.create(part('a', { shop: 'early' }, 'apples', 'pears'))
      await cluster.create(part('b', { shop: 'late' }, 'pears'))
      await cluster.create(part('c', { shop: 'early' }, 'plums'))
      await cluster.create(part('d', { shop: 'early' }, 'grapes'))
      await cluster.advance(STEP_MS)
      await change(cluster, 'c', { metadata: { labels: { shop: null } } })
      await change(cluster, 'all', { rules: [rule('everything')] })
      await cluster.delete(resources.clusterroles, undefined, 'd')
      await cluster.create(sum('bare', {}, { shop: 'closed' }))
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      yield* has(cluster, 'shop', 'pears', 'apples')
      yield* has(cluster, 'all', 'pears', 'apples')
      yield* has(cluster, 'bare')
    },
  },
]
