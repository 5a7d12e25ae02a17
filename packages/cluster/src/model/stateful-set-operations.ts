/** What a random user does with StatefulSets. */
import type { StatefulSet } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { statefulSet } from '../scenarios/objects.ts'
import { APPS, deletion, hasRoom, merge, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

type Spec = NonNullable<StatefulSet['spec']>

function strategyOf(hand: Hand): Spec['updateStrategy'] {
  if (hand.random.next() < 0.15) return { type: 'OnDelete' }
  return { type: 'RollingUpdate', rollingUpdate: { partition: hand.pick([0, 0, 0, 1, 3])! } }
}

export const statefulSetOperations: readonly Operation[] = [
  {
    name: 'create a StatefulSet',
    weight: 3,
    async act(hand) {
      if (!hasRoom(hand)) return false
      const spec: Partial<Spec> = {
        podManagementPolicy: hand.pick(['OrderedReady', 'Parallel'])!,
        updateStrategy: strategyOf(hand)!,
        minReadySeconds: hand.pick([0, 0, 3])!,
        revisionHistoryLimit: hand.number(0, 4),
        ordinals: { start: hand.pick([0, 0, 2])! },
      }
      const given = {
        namespace: somePlace(hand),
        replicas: hand.number(0, 5),
        image: `web:${hand.number(1, 4)}`,
        spec,
      }
      await hand.cluster.create(statefulSet(`db-${hand.pick(APPS)}`, given))
      return true
    },
  },
  {
    name: 'scale a StatefulSet',
    weight: 4,
    async act(hand) {
      const target = some(hand, resources.statefulsets)
      if (target === undefined) return false
      await merge(hand, resources.statefulsets, target, { spec: { replicas: hand.number(0, 6) } })
      return true
    },
  },
  {
    name: 'edit the template of a StatefulSet',
    weight: 4,
    async act(hand) {
      const target = some(hand, resources.statefulsets)
      if (target === undefined) return false
      const containers = [{ name: 'web', image: `web:${hand.number(1, 5)}` }]
      const { namespace: place, name = '' } = target.metadata ?? {}
      const value = { spec: { template: { spec: { containers } } } }
      await hand.cluster.patch(resources.statefulsets, place, name, { type: 'strategic', value })
      return true
    },
  },
  {
    name: 'change how a StatefulSet is updated',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.statefulsets)
      if (target === undefined) return false
      const strategy = strategyOf(hand)!
      const updateStrategy = { ...strategy, rollingUpdate: strategy.rollingUpdate ?? null }
      const ordinals = { start: hand.pick([0, 1, 2])! }
      await merge(hand, resources.statefulsets, target, { spec: { updateStrategy, ordinals } })
      return true
    },
  },
  deletion('delete a StatefulSet', 1.5, resources.statefulsets),
]
