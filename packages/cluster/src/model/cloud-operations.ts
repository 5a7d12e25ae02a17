/** What a random user does where there is a cloud, and what the cloud does to everybody. */
import { resources } from '@gyropilot/api'
import type { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import { service } from '../scenarios/objects.ts'
import { APPS, isUsers, merge, remove, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers'
const BALANCED = 'balanced'

function someBalanced(hand: Hand) {
  const found = hand.cluster.objects
    .all(resources.services)
    .filter((each) => isUsers(each) && each.metadata?.name?.startsWith(BALANCED))
  return hand.pick(found)
}

/** The cloud mends itself after a while. */
function disturb(
  { cluster, number }: Hand,
  what: string,
  fault: (cloud: InMemoryCloud) => void,
): boolean {
  const { cloud } = cluster
  if (cloud === undefined) return false
  cluster.noteFault(`cloud ${what}`)
  fault(cloud)
  cluster.clock.after(number(5, 60) * 1_000, () => cloud.faults.clear())
  return true
}

export const cloudOperations: readonly Operation[] = [
  {
    name: 'ask for a load balancer',
    weight: 3,
    async act(hand) {
      if (hand.cluster.cloud === undefined) return false
      const { spec, ...rest } = service(
        `${BALANCED}-${hand.pick(APPS)}`,
        `web-${hand.pick(APPS)}`,
        somePlace(hand),
      )
      await hand.cluster.create({ ...rest, spec: { ...spec!, type: 'LoadBalancer' } })
      return true
    },
  },
  {
    name: 'change what a load balancer is asked for',
    weight: 3,
    async act(hand) {
      const target = someBalanced(hand)
      if (target === undefined) return false
      const type = target.spec?.type === 'LoadBalancer' ? 'ClusterIP' : 'LoadBalancer'
      const value = hand.pick([
        { spec: { type } },
        { spec: { externalIPs: [`198.51.100.${hand.number(1, 9)}`] } },
        { metadata: { annotations: { 'example.com/change': hand.fresh('change') } } },
      ])!
      await merge(hand, resources.services, target, value)
      return true
    },
  },
  {
    name: 'give a load balancer back',
    weight: 2,
    async act(hand) {
      const target = someBalanced(hand)
      if (target === undefined) return false
      await remove(hand, resources.services, target)
      return true
    },
  },
  {
    name: 'keep a node out of load balancers, or let it in again',
    weight: 2,
    async act(hand) {
      if (hand.cluster.cloud === undefined) return false
      const target = hand.pick(hand.cluster.objects.all(resources.nodes))
      if (target === undefined) return false
      const isOut = target.metadata?.labels?.[EXCLUDED] !== undefined
      const labels = { [EXCLUDED]: isOut ? null : '' }
      await merge(hand, resources.nodes, target, { metadata: { labels } })
      return true
    },
  },
  {
    name: 'the cloud fails',
    weight: 1,
    act: async (hand) =>
      disturb(hand, 'fails', ({ faults }) => faults.fail('*', new Error('quota exceeded'))),
  },
  {
    name: 'the cloud is slow',
    weight: 1,
    act: async (hand) => disturb(hand, 'is slow', ({ faults }) => faults.slow('*', 15_000)),
  },
  {
    name: 'the cloud cannot be reached',
    weight: 1,
    act: async (hand) => disturb(hand, 'is cut off', ({ faults }) => faults.partition()),
  },
  {
    name: 'answers of the cloud are lost',
    weight: 1,
    act: async (hand) => disturb(hand, 'loses answers', ({ faults }) => faults.loseAnswers('*')),
  },
  {
    name: 'the cloud is well again',
    weight: 0,
    tidies: true,
    async act({ cluster }) {
      cluster.cloud?.faults.clear()
      return cluster.cloud !== undefined
    },
  },
]
