/** What a random user does with autoscalers. */
import { resources } from '@gyropilot/api'
import { autoscaler } from '../scenarios/objects.ts'
import { APPS, deletion, isUsers, merge, remove, some } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const MOST_AUTOSCALERS = 3

/** Of memory, which pods use also when they request none: all of these come true with some size. */
function metricsOf(hand: Hand) {
  const averageValue = hand.pick(['5Mi', '15Mi', '100Mi'] as const)!
  return [
    {
      type: 'Resource',
      resource: { name: 'memory', target: { type: 'AverageValue', averageValue } },
    },
  ] as const
}

function limitsOf(hand: Hand) {
  const minReplicas = hand.number(1, 4)
  return { minReplicas, maxReplicas: minReplicas + hand.number(0, 4) }
}

/** One whose target is gone, or is nowhere measured, says so every fifteen seconds for ever. */
async function deleteAll(hand: Hand): Promise<boolean> {
  const all = hand.cluster.objects.all(resources.horizontalpodautoscalers).filter(isUsers)
  for (const each of all) await remove(hand, resources.horizontalpodautoscalers, each)
  return all.length > 0
}

export const autoscalerOperations: readonly Operation[] = [
  {
    name: 'create an autoscaler',
    weight: 2,
    async act(hand) {
      const { cluster } = hand
      const all = cluster.objects.all(resources.horizontalpodautoscalers)
      const target = some(hand, resources.deployments)
      if (target === undefined || all.length >= MOST_AUTOSCALERS) return false
      const { name = '', namespace = '' } = target.metadata ?? {}
      const spec = { ...limitsOf(hand), metrics: metricsOf(hand) }
      const given = { namespace, deployment: name, spec }
      await cluster.create(autoscaler(`scaler-${hand.pick(APPS)}`, given))
      return true
    },
  },
  {
    name: 'change an autoscaler',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.horizontalpodautoscalers)
      if (target === undefined) return false
      const spec = { ...limitsOf(hand), metrics: metricsOf(hand) }
      await merge(hand, resources.horizontalpodautoscalers, target, { spec })
      return true
    },
  },
  deletion('delete an autoscaler', 1, resources.horizontalpodautoscalers),
  { name: 'delete all autoscalers', weight: 0.1, tidies: true, act: deleteAll },
]
