/** What a random user does to DaemonSets, and to the nodes that they choose. */
import type { DaemonSet, Node } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { daemonSet } from '../scenarios/objects.ts'
import { APPS, deletion, hasRoom, merge, some, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const MOST = 4
const POOLS = ['red', 'blue'] as const
const EFFECTS = ['NoSchedule', 'NoExecute', 'PreferNoSchedule'] as const
const TAINT_KEY = 'example.com/dedicated'

function strategyOf(hand: Hand): NonNullable<NonNullable<DaemonSet['spec']>['updateStrategy']> {
  if (hand.random.next() < 0.15) return { type: 'OnDelete' }
  const [maxUnavailable, maxSurge] = hand.pick([
    [1, 0],
    ['50%', 0],
    [2, 0],
    [0, 1],
    [0, '50%'],
  ] as const)!
  return { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } }
}

function someNode(hand: Hand): Node | undefined {
  return hand.pick(hand.cluster.objects.all(resources.nodes))
}

async function freeNodes({ cluster }: Hand): Promise<boolean> {
  let freed = false
  for (const node of cluster.objects.all(resources.nodes)) {
    const taints = node.spec?.taints ?? []
    const kept = taints.filter(({ key }) => key !== TAINT_KEY)
    if (kept.length === taints.length) continue
    freed = true
    const value = { spec: { taints: kept.length === 0 ? null : kept } }
    await cluster.patch(resources.nodes, undefined, node.metadata?.name ?? '', {
      type: 'merge',
      value,
    })
  }
  return freed
}

export const daemonSetOperations: readonly Operation[] = [
  {
    name: 'create a DaemonSet',
    weight: 2,
    async act(hand) {
      const all = hand.cluster.objects.all(resources.daemonsets)
      if (all.length >= MOST || !hasRoom(hand)) return false
      const pool = hand.pick([undefined, undefined, ...POOLS])
      const given = {
        namespace: somePlace(hand),
        image: `agent:${hand.number(1, 4)}`,
        ...(pool === undefined ? {} : { nodeSelector: { pool } }),
        spec: {
          updateStrategy: strategyOf(hand),
          minReadySeconds: hand.pick([0, 0, 3])!,
          revisionHistoryLimit: hand.number(0, 4),
        },
      }
      await hand.cluster.create(daemonSet(`agent-${hand.pick(APPS)}`, given))
      return true
    },
  },
  {
    name: 'edit the template of a DaemonSet',
    weight: 4,
    async act(hand) {
      const target = some(hand, resources.daemonsets)
      if (target === undefined) return false
      const containers = [{ name: 'web', image: `agent:${hand.number(1, 5)}` }]
      const { namespace, name = '' } = target.metadata ?? {}
      const value = { spec: { template: { spec: { containers } } } }
      await hand.cluster.patch(resources.daemonsets, namespace, name, { type: 'strategic', value })
      return true
    },
  },
  {
    name: 'change how a DaemonSet is rolled',
    weight: 1,
    async act(hand) {
      const target = some(hand, resources.daemonsets)
      if (target === undefined) return false
      const strategy = strategyOf(hand)
      const updateStrategy = { ...strategy, rollingUpdate: strategy.rollingUpdate ?? null }
      await merge(hand, resources.daemonsets, target, { spec: { updateStrategy } })
      return true
    },
  },
  deletion('delete a DaemonSet', 1, resources.daemonsets),
  {
    name: 'move a node to another pool',
    weight: 2,
    async act(hand) {
      const node = someNode(hand)
      if (node === undefined) return false
      const pool = hand.pick([null, ...POOLS])
      await merge(hand, resources.nodes, node, { metadata: { labels: { pool } } })
      return true
    },
  },
  {
    name: 'taint a node',
    weight: 1,
    async act(hand) {
      await freeNodes(hand)
      const node = someNode(hand)
      if (node === undefined) return false
      const taints = [
        ...(node.spec?.taints ?? []).filter(({ key }) => key !== TAINT_KEY),
        { key: TAINT_KEY, effect: hand.pick(EFFECTS)! },
      ]
      await merge(hand, resources.nodes, node, { spec: { taints } })
      return true
    },
  },
  { name: 'free nodes of taints', weight: 2, tidies: true, act: freeNodes },
]
