/** The authority of the API server, for everybody to read. */
import { createHash } from 'node:crypto'
import { resourcesOnRequest } from '@gyropilot/api'
import type { ClusterTrustBundle } from '@gyropilot/api'
import { AUTHORITY_PEM } from '../../simulated/fixed-certificates.ts'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { untilSo } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 5_000
const SIGNER = 'kubernetes.io/kube-apiserver-serving'
const PREFIX = 'kubernetes.io:kube-apiserver-serving:'
const NAME = `${PREFIX}${createHash('sha256').update(AUTHORITY_PEM).digest('hex').slice(0, 24)}`

const type = resourcesOnRequest.clustertrustbundles

const bundle = (name: string, signerName?: string): ClusterTrustBundle => ({
  metadata: { name },
  spec: { trustBundle: AUTHORITY_PEM, ...(signerName === undefined ? {} : { signerName }) },
})

function isPublished(cluster: SimulatedCluster): boolean {
  return cluster.objects.find(type, undefined, NAME)?.spec.trustBundle === AUTHORITY_PEM
}

const untilPublished = (cluster: SimulatedCluster) =>
  untilSo(cluster, 'the authority is published', () => isPublished(cluster))

export const trustBundleScenarios: readonly Scenario[] = [
  {
    name: 'the bundle of the API server is deleted, spoiled and joined by others',
    controllers: ['kube-apiserver-serving-clustertrustbundle-publisher-controller'],
    nodes: 0,
    featureGates: { ClusterTrustBundle: true },
    runtimeConfig: { 'certificates.k8s.io/v1beta1': true },
    async play(cluster) {
      await untilPublished(cluster)
      const bundles = cluster.client.resource(type)
      await bundles.delete(NAME)
      await untilPublished(cluster)
      const trustBundle = `spoiled\n${AUTHORITY_PEM}`
      await bundles.patch(NAME, { type: 'merge', value: { spec: { trustBundle } } })
      await bundles.create(bundle(`${PREFIX}own`, SIGNER))
      await bundles.create(bundle('example.com:signer:foreign', 'example.com/signer'))
      await bundles.create(bundle('unlinked'))
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      if (!isPublished(cluster)) yield 'the authority is not published'
      const names = cluster.objects.all(type).map(({ metadata }) => metadata?.name)
      const wanted = ['example.com:signer:foreign', NAME, 'unlinked']
      if (names.join() !== wanted.join()) yield `the bundles ${names.join()} are left`
    },
  },
]
