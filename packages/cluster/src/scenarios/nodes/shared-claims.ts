/** Claims that a PodGroup shares with its pods. */
import type { Pod } from '@gyropilot/api'
import { POD_GROUPS, resources } from '@gyropilot/api'
import type { PatchOptions } from '@gyropilot/client'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { DRIVER, TEMPLATE, deviceTemplate, podWithDevice } from './devices.ts'
import { untilSo } from '../occasions.ts'
import { POD_GROUPS_SERVED, SHARED_CLAIM_GATES, podGroup } from '../pod-groups.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 20_000
const FINALIZER = 'resource.kubernetes.io/delete-protection'

interface Recorded {
  readonly resourceClaimStatuses?: readonly { readonly resourceClaimName?: string }[]
}

const createGroup = (cluster: SimulatedCluster) =>
  cluster.client
    .resource(POD_GROUPS, 'default')
    .create(
      podGroup({ name: 'g', namespace: 'default' }, [
        { name: 'gpu', resourceClaimTemplateName: TEMPLATE },
      ]),
    )

/** Past the scheduler, which knows no PodGroups. */
function member(name: string): Pod {
  const pod = podWithDevice(name)
  const spec = { ...pod.spec!, nodeName: 'node-1', schedulingGroup: { podGroupName: 'g' } }
  return { ...pod, spec }
}

const nameIn = (status: unknown): string | undefined =>
  (status as Recorded | undefined)?.resourceClaimStatuses?.[0]?.resourceClaimName

const nameOfGroup = (cluster: SimulatedCluster): string | undefined =>
  nameIn(cluster.objects.find(POD_GROUPS, 'default', 'g')?.status)

const nameOfPod = (cluster: SimulatedCluster, pod: string): string | undefined =>
  nameIn(cluster.objects.find(resources.pods, 'default', pod)?.status)

function isShared(cluster: SimulatedCluster, ...pods: readonly string[]): boolean {
  const name = nameOfGroup(cluster)
  return name !== undefined && pods.every((pod) => nameOfPod(cluster, pod) === name)
}

const claimOf = (cluster: SimulatedCluster, name: string) =>
  cluster.objects.find(resources.resourceclaims, 'default', name)

/** As a scheduler does it, but for the reservation. */
async function allocate(cluster: SimulatedCluster, name: string): Promise<void> {
  const result = { request: 'gpu', driver: DRIVER, pool: 'store', device: 'gpu-0' }
  const patch = (value: object, options?: PatchOptions) =>
    cluster.patch(resources.resourceclaims, 'default', name, { type: 'merge', value }, options)
  await patch({ metadata: { finalizers: [FINALIZER] } })
  await patch(
    { status: { allocation: { devices: { results: [result] } } } },
    { subresource: 'status' },
  )
}

export const sharedClaimScenarios: readonly Scenario[] = [
  {
    name: 'pods share the claim of their PodGroup, which goes with it and comes back with its successor',
    controllers: ['resourceclaim-controller', 'podgroup-protection-controller'],
    featureGates: SHARED_CLAIM_GATES,
    runtimeConfig: POD_GROUPS_SERVED,
    async play(cluster) {
      await cluster.create(deviceTemplate())
      await cluster.create(member('a'))
      await createGroup(cluster)
      await cluster.create(member('b'))
      await untilSo(cluster, 'a and b name the claim of their group', () =>
        isShared(cluster, 'a', 'b'),
      )
      const name = nameOfGroup(cluster)!
      await allocate(cluster, name)
      await untilSo(cluster, 'it is reserved for the group', () => {
        const users = claimOf(cluster, name)?.status?.reservedFor ?? []
        return users.length === 1 && users[0]?.resource === 'podgroups'
      })
      for (const pod of ['a', 'b']) await cluster.delete(resources.pods, 'default', pod)
      await cluster.client.resource(POD_GROUPS, 'default').delete('g')
      await untilSo(
        cluster,
        'the group is gone, as its pods are',
        () => cluster.objects.find(POD_GROUPS, 'default', 'g') === undefined,
      )
      await createGroup(cluster)
      await cluster.create(member('c'))
      await cluster.advance(STEP_MS)
    },
    *ends(cluster) {
      const claims = cluster.objects.all(resources.resourceclaims, 'default')
      const [claim] = claims
      const group = cluster.objects.find(POD_GROUPS, 'default', 'g')
      if (claims.length !== 1) yield `${claims.length} claims are left and not one`
      if (claim?.metadata?.ownerReferences?.[0]?.uid !== group?.metadata?.uid)
        yield 'the claim is not that of the new group'
      if (claim?.status?.allocation !== undefined) yield 'it has the devices of the former one'
      if (!isShared(cluster, 'c')) yield 'c does not name the claim of its group'
    },
  },
]
