/** What a random user does to pods, to nodes with pods, and to the budgets that protect them. */
import type { Pod } from '@gyropilot/api'
import { controllerOf, resources } from '@gyropilot/api'
import { pod, podDisruptionBudget } from '../scenarios/objects.ts'
import { APPS, deletion, hasRoom, isUsers, merge, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

/** With a status of the user's own: where the disruption controller runs, it corrects it. */
async function protect(hand: Hand): Promise<boolean> {
  const { cluster } = hand
  const name = `budget-${hand.pick(APPS)}`
  const place = somePlace(hand)
  if (cluster.objects.find(resources.poddisruptionbudgets, place, name)) return false
  const allowed = hand.number(0, 4)
  const app = `${hand.pick(['web', 'set'])}-${hand.pick(APPS)}`
  const budget = await cluster.create(podDisruptionBudget(name, { app }, place))
  const status = {
    observedGeneration: budget.metadata?.generation ?? 0,
    disruptionsAllowed: allowed,
    currentHealthy: allowed + 1,
    desiredHealthy: 1,
    expectedPods: allowed + 1,
  }
  await cluster.client
    .resource(resources.poddisruptionbudgets, place)
    .patch(name, { type: 'merge', value: { status } }, { subresource: 'status' })
  return true
}

/** Whoever takes a pod of a StatefulSet, or one that it would adopt, keeps its name from it. */
const isNamedForSet = ({ metadata }: Pod): boolean => /^(db|store)-/.test(metadata?.name ?? '')

export const podOperations: readonly Operation[] = [
  {
    name: 'create a pod that may be adopted',
    weight: 2,
    async act(hand) {
      if (!hasRoom(hand)) return false
      const app = `set-${hand.pick(APPS)}`
      await hand.cluster.create(pod(hand.fresh('own'), { app }, somePlace(hand)))
      return true
    },
  },
  {
    name: 'create a pod on a node that is not there',
    weight: 1,
    async act(hand) {
      if (!hasRoom(hand)) return false
      const lost = pod(hand.fresh('lost'), { app: `set-${hand.pick(APPS)}` }, somePlace(hand))
      await hand.cluster.create({ ...lost, spec: { ...lost.spec!, nodeName: hand.fresh('gone') } })
      return true
    },
  },
  {
    name: 'delete a pod',
    weight: 6,
    async act(hand) {
      const target = some(hand, resources.pods)
      if (target === undefined) return false
      const { namespace: place, name = '' } = target.metadata ?? {}
      const force = hand.random.next() < 0.2 ? { gracePeriodSeconds: 0 } : {}
      await hand.cluster.delete(resources.pods, place, name, force)
      return true
    },
  },
  {
    name: 'take a pod away by its labels',
    weight: 3,
    async act(hand) {
      const target = some(hand, resources.pods)
      if (target === undefined || isNamedForSet(target)) return false
      await merge(hand, resources.pods, target, {
        metadata: { labels: { app: hand.fresh('away') } },
      })
      return true
    },
  },
  {
    name: 'give a pod to others by its labels',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.pods)
      if (target === undefined || isNamedForSet(target)) return false
      const app = `${hand.pick(['set', 'rc', 'web'])}-${hand.pick(APPS)}`
      await merge(hand, resources.pods, target, { metadata: { labels: { app } } })
      return true
    },
  },
  {
    name: 'create a pod that a StatefulSet would make',
    weight: 1,
    async act(hand) {
      const set = some(hand, resources.statefulsets)
      // Volumes of a pod cannot be given to it later: one without those of the set would stay in its way.
      const hasClaims = (set?.spec?.volumeClaimTemplates ?? []).length > 0
      if (set === undefined || hasClaims || !hasRoom(hand)) return false
      const { name = '', namespace = '' } = set.metadata ?? {}
      const first = set.spec?.ordinals?.start ?? 0
      const ordinal = first + hand.number(0, (set.spec?.replicas ?? 1) + 2)
      await hand.cluster.create(pod(`${name}-${ordinal}`, { app: name }, namespace))
      return true
    },
  },
  {
    name: 'let a budget protect others',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.poddisruptionbudgets)
      if (target === undefined) return false
      const app = `${hand.pick(['web', 'set'])}-${hand.pick(APPS)}`
      const selector = { matchLabels: { app } }
      const spec = hand.pick([
        { selector },
        { selector, minAvailable: '50%', maxUnavailable: null },
        { selector, minAvailable: null, maxUnavailable: 1 },
        { selector, minAvailable: hand.number(0, 3), maxUnavailable: null },
      ])!
      await merge(hand, resources.poddisruptionbudgets, target, { spec })
      return true
    },
  },
  {
    name: 'delete pods that belong to nobody',
    weight: 1,
    async act(hand) {
      const alone = hand.cluster.objects
        .all(resources.pods)
        .filter((found) => isUsers(found) && !controllerOf(found))
      for (const { metadata } of alone)
        await hand.cluster.delete(resources.pods, metadata?.namespace, metadata?.name ?? '')
      return alone.length > 0
    },
  },
  {
    name: 'protect pods by a budget',
    weight: 2,
    act: (hand) => protect(hand),
  },
  deletion('delete a budget', 1, resources.poddisruptionbudgets),
  {
    name: 'drain a node',
    weight: 1,
    async act(hand) {
      const nodes = hand.cluster.objects.all(resources.nodes)
      const node = hand.pick(nodes)
      if (node === undefined) return false
      await merge(hand, resources.nodes, node, { spec: { unschedulable: true } })
      const isOn = (found: Pod): boolean => found.spec?.nodeName === node.metadata?.name
      for (const { metadata } of hand.cluster.objects.all(resources.pods).filter(isOn)) {
        const { namespace: place, name = '' } = metadata ?? {}
        const eviction = {
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { namespace: place, name },
        }
        await hand.cluster.client
          .resource(resources.pods, place)
          .createSubresource(name, 'eviction', eviction)
      }
      return true
    },
  },
  {
    name: 'uncordon nodes',
    weight: 2,
    tidies: true,
    async act(hand) {
      const closed = hand.cluster.objects
        .all(resources.nodes)
        .filter(({ spec }) => spec?.unschedulable === true)
      for (const node of closed)
        await merge(hand, resources.nodes, node, { spec: { unschedulable: null } })
      return closed.length > 0
    },
  },
]
