/** Ranges of Service addresses: one that is used cannot go, unless another has its addresses too. */
import type { ServiceCIDR } from '@gyropilot/api'
import { findCondition, resources } from '@gyropilot/api'
import type { SimulatedCluster } from '../../simulated/simulated-cluster.ts'
import { service } from '../objects.ts'
import { untilSo } from '../occasions.ts'
import type { Scenario } from '../scenario.ts'

const STEP_MS = 20_000

function range(name: string, cidr: string): ServiceCIDR {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name },
    spec: { cidrs: [cidr] },
  }
}

const find = (cluster: SimulatedCluster, name: string) =>
  cluster.objects.find(resources.servicecidrs, undefined, name)

const readiness = (cluster: SimulatedCluster, name: string) =>
  findCondition(find(cluster, name)?.status?.conditions, 'Ready')

/** A Service at this address, once the range of this name gives some out. */
async function serve(cluster: SimulatedCluster, name: string, address: string, from: string) {
  await untilSo(cluster, `${from} is ready`, () => readiness(cluster, from)?.status === 'True')
  const { spec, ...rest } = service(name, 'web')
  await cluster.create({ ...rest, spec: { ...spec, clusterIP: address } })
}

const discard = (cluster: SimulatedCluster, name: string) =>
  cluster.delete(resources.servicecidrs, undefined, name)

const untilBlocked = (cluster: SimulatedCluster, name: string) =>
  untilSo(cluster, `${name} waits for its addresses`, () => {
    const { status, reason } = readiness(cluster, name) ?? {}
    return status === 'False' && reason === 'Terminating'
  })

const untilGone = (cluster: SimulatedCluster, name: string) =>
  untilSo(cluster, `${name} is gone`, () => find(cluster, name) === undefined)

export const serviceRangeScenarios: readonly Scenario[] = [
  {
    name: 'ranges of Services go when no address needs them',
    controllers: ['service-cidr-controller'],
    nodes: 0,
    async play(cluster) {
      await cluster.create(range('used', '10.200.0.0/28'))
      await cluster.create(range('inner', '10.201.0.0/28'))
      await cluster.create(range('brief', '10.202.0.0/28'))
      await serve(cluster, 'web', '10.200.0.5', 'used')
      await serve(cluster, 'shop', '10.201.0.5', 'inner')
      // What a cache does not know after ten seconds keeps no range.
      await cluster.advance(STEP_MS)
      for (const name of ['used', 'inner', 'brief']) await discard(cluster, name)
      await untilBlocked(cluster, 'used')
      await untilBlocked(cluster, 'inner')
      await cluster.create(range('outer', '10.201.0.0/24'))
      await untilGone(cluster, 'inner')
      await cluster.delete(resources.services, 'default', 'web')
      await untilGone(cluster, 'used')
    },
    *ends(cluster) {
      const all = cluster.objects.all(resources.servicecidrs)
      const names = all.map(({ metadata }) => metadata?.name).toSorted()
      if (names.join() !== 'kubernetes,outer') yield `the ranges ${names.join()} are left`
      for (const { metadata, status } of all) {
        const { status: ready, reason } = findCondition(status?.conditions, 'Ready') ?? {}
        if (ready !== 'True' || reason !== '')
          yield `${metadata?.name} is ready: ${ready} ${reason}`
        if (!metadata?.finalizers?.includes('networking.k8s.io/service-cidr-finalizer'))
          yield `${metadata?.name} has no finalizer`
      }
    },
  },
]
