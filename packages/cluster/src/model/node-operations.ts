/** What a random user does to nodes: those that no kubelet runs come, get what every node gets, and go; others are set up anew. */
import type { Node } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import type { Hand, Operation } from './operation.ts'

const MOST = 2
const LABEL = 'example.com/spare'

function spares({ cluster }: Hand): readonly Node[] {
  return cluster.objects
    .all(resources.nodes)
    .filter(({ metadata }) => metadata?.labels?.[LABEL] !== undefined)
}

async function removeNode({ cluster }: Hand, node: Node | undefined): Promise<boolean> {
  if (node === undefined) return false
  await cluster.delete(resources.nodes, undefined, node.metadata?.name ?? '')
  return true
}

async function addNode({ cluster }: Hand, name: string): Promise<boolean> {
  await cluster.create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { [LABEL]: '' } },
  } as Node)
  return true
}

export const nodeOperations: readonly Operation[] = [
  {
    name: 'add a node that nobody runs',
    weight: 1,
    async act(hand) {
      if (spares(hand).length >= MOST) return false
      return addNode(hand, hand.fresh('spare'))
    },
  },
  {
    name: 'replace a node that nobody runs by its namesake',
    weight: 1,
    async act(hand) {
      const node = hand.pick(spares(hand))
      if (node === undefined) return false
      await removeNode(hand, node)
      return addNode(hand, node.metadata?.name ?? '')
    },
  },
  {
    name: 'remove a node that nobody runs',
    weight: 1,
    act: (hand) => removeNode(hand, hand.pick(spares(hand))),
  },
  {
    name: 'set up a node anew',
    weight: 1,
    async act(hand) {
      const { cluster } = hand
      const run = cluster.objects
        .all(resources.nodes)
        .filter(({ metadata }) => cluster.processes.some(({ name }) => name === metadata?.name))
      const node = hand.pick(run)
      if (node === undefined) return false
      // A kubelet registers its node when it starts, and not again while it runs.
      cluster.process(node.metadata?.name ?? '').crash(hand.number(1, 60) * 1_000)
      return removeNode(hand, node)
    },
  },
  {
    name: 'remove all nodes that nobody runs',
    weight: 0,
    tidies: true,
    async act(hand) {
      const all = spares(hand)
      for (const node of all) await removeNode(hand, node)
      return all.length > 0
    },
  },
]
