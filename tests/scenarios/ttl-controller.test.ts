/** What kubelets are told follows the size of the cluster. */
import { resources } from '@gyropilot/api'
import { scenario } from './scenario.ts'
import type { World } from './scenario.ts'

const nameOf = (index: number): string => `n${String(index).padStart(3, '0')}`

async function untilAll(world: World, ttl: string): Promise<void> {
  await world.until(`all nodes have ${ttl}`, 30_000, async () => {
    const nodes = await world.list(resources.nodes)
    const isDone = nodes.every(
      ({ metadata }) => metadata?.annotations?.['node.alpha.kubernetes.io/ttl'] === ttl,
    )
    return isDone ? true : undefined
  })
}

/** A kubelet that says something. */
async function touchAll(world: World): Promise<void> {
  for (const { metadata } of await world.list(resources.nodes)) {
    const value = { metadata: { annotations: { touched: String(world.clock.nowMs()) } } }
    await world.of(resources.nodes).patch(metadata?.name ?? '', { type: 'merge', value })
  }
}

scenario(
  'Given 100 nodes created, then all have `0`; one more: all get `15`; delete 11: all keep `15`; delete one more: all get `0`',
  async (world) => {
    const nodes = world.of(resources.nodes)
    for (let index = 0; index < 100; index++)
      await nodes.create({ metadata: { name: nameOf(index) } })
    await untilAll(world, '0')
    await nodes.create({ metadata: { name: nameOf(100) } })
    await world.advance(1_000)
    await touchAll(world)
    await untilAll(world, '15')
    for (let index = 0; index < 11; index++) await nodes.delete(nameOf(index))
    await world.advance(1_000)
    await touchAll(world)
    await world.advance(1_000)
    await untilAll(world, '15')
    await nodes.delete(nameOf(11))
    await world.advance(1_000)
    await touchAll(world)
    await untilAll(world, '0')
  },
  { nodes: 0, controllers: ['ttl-controller'] },
)
