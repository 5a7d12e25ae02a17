/** What a random user does to ReplicationControllers, and to Endpoints that are kept by hand. */
import { resources } from '@gyropilot/api'
import type { Endpoints, Service } from '@gyropilot/api'
import { replicationController, service } from '../scenarios/objects.ts'
import { APPS, deletion, hasRoom, isUsers, merge, remove, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const KEPT = 'kept-by-hand'

/** Services without a selector whose Endpoints a user keeps. */
function keptServices({ cluster }: Hand): readonly Service[] {
  return cluster.objects
    .all(resources.services)
    .filter((found) => isUsers(found) && found.metadata?.name?.startsWith(KEPT))
}

function subsetsOf(hand: Hand): NonNullable<Endpoints['subsets']> {
  const ips = Array.from({ length: hand.number(1, 4) }, (_, index) => ({
    ip: hand.random.next() < 0.2 ? `fd00::${index + 1}` : `10.1.2.${index + 1}`,
  }))
  const ports = [{ name: 'web', port: hand.pick([80, 81])!, protocol: 'TCP' as const }]
  return [hand.random.next() < 0.8 ? { addresses: ips, ports } : { notReadyAddresses: ips, ports }]
}

export const serviceOperations: readonly Operation[] = [
  {
    name: 'create a ReplicationController',
    weight: 2,
    async act(hand) {
      if (!hasRoom(hand)) return false
      const given = { namespace: somePlace(hand), replicas: hand.number(0, 4) }
      await hand.cluster.create(replicationController(`rc-${hand.pick(APPS)}`, given))
      return true
    },
  },
  {
    name: 'scale a ReplicationController',
    weight: 2,
    async act(hand) {
      const target = some(hand, resources.replicationcontrollers)
      if (target === undefined) return false
      const value = { spec: { replicas: hand.number(0, 5) } }
      await merge(hand, resources.replicationcontrollers, target, value)
      return true
    },
  },
  {
    name: 'let a ReplicationController select others',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.replicationcontrollers)
      if (target === undefined) return false
      const labels = { app: `${target.metadata?.name}-${hand.number(1, 4)}` }
      await merge(hand, resources.replicationcontrollers, target, {
        spec: { selector: labels, template: { metadata: { labels } } },
      })
      return true
    },
  },
  deletion('delete a ReplicationController', 1, resources.replicationcontrollers),
  {
    name: 'keep the Endpoints of a Service by hand',
    weight: 2,
    async act(hand) {
      const place = somePlace(hand)
      const name = `${KEPT}-${hand.pick(APPS)}`
      if (hand.cluster.objects.find(resources.services, place, name)) return false
      const { spec, ...rest } = service(name, 'none', place)
      const { selector: _, ...without } = spec!
      await hand.cluster.create({ ...rest, spec: without })
      await hand.cluster.create({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name, namespace: place },
        subsets: subsetsOf(hand),
      } as Endpoints)
      return true
    },
  },
  {
    name: 'change Endpoints that are kept by hand',
    weight: 2,
    async act(hand) {
      // Those of a Service with a selector are no longer kept by hand: nobody writes them again until a pod or the Service changes, as upstream.
      const kept = keptServices(hand).filter(({ spec }) => spec?.selector == null)
      const { namespace, name = '' } = hand.pick(kept)?.metadata ?? {}
      const found = hand.cluster.objects.find(resources.endpoints, namespace, name)
      if (found === undefined) return false
      await merge(hand, resources.endpoints, found, { subsets: subsetsOf(hand) })
      return true
    },
  },
  {
    name: 'give a selector to a Service without one, or take it away',
    weight: 1,
    async act(hand) {
      const target = hand.pick(keptServices(hand))
      if (target === undefined) return false
      const selector = target.spec?.selector == null ? { app: `web-${hand.pick(APPS)}` } : null
      await merge(hand, resources.services, target, { spec: { selector } })
      return true
    },
  },
  {
    name: 'change what a Service is',
    weight: 2,
    async act(hand) {
      const target = some(hand, resources.services)
      if (target === undefined || target.metadata?.name === 'kubernetes') return false
      const isFor = target.spec?.publishNotReadyAddresses !== true
      const change = hand.pick<object>([
        { ports: [{ port: hand.number(80, 84), protocol: 'TCP' }] },
        {
          ports: [
            { name: 'b', port: 81 },
            { name: 'a', port: 80, targetPort: hand.number(80, 83) },
          ],
        },
        { publishNotReadyAddresses: isFor },
        { type: 'ExternalName', externalName: 'example.com', clusterIP: null, clusterIPs: null },
        { type: 'ClusterIP', externalName: null },
        { type: 'NodePort', externalName: null },
      ])!
      await merge(hand, resources.services, target, { spec: change })
      return true
    },
  },
  {
    name: 'spoil Endpoints or mirrored slices',
    weight: 1,
    async act(hand) {
      const isEndpoints = hand.random.next() < 0.5
      const type = isEndpoints ? resources.endpoints : resources.endpointslices
      const target = some(hand, type as typeof resources.endpoints)
      if (target === undefined || target.metadata?.name === 'kubernetes') return false
      await remove(hand, type, target)
      return true
    },
  },
]
