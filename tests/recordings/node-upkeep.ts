/** Node objects of scenarios look as they were recorded beside a controller that is not built here: it gives them a range of pod addresses. */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'

const OF_SCENARIO = /^t[0-9a-f]{10}-/
const LOOK_EVERY_MS = 50

/** Ends with the returned function. */
export function keepNodesUp(client: Client): () => void {
  const nodes = client.resource(resources.nodes)
  let ranges = 0
  let busy = false
  const look = async (): Promise<void> => {
    const { items } = await nodes.list()
    for (const node of items) {
      const name = node.metadata?.name ?? ''
      const value = upkeepOf(node, () => `10.244.${ranges++ % 256}.0/24`)
      // A node that is gone by now needs nothing.
      if (OF_SCENARIO.test(name) && value !== undefined)
        await nodes.patch(name, { type: 'merge', value }).catch(() => undefined)
    }
  }
  const timer = setInterval(() => {
    if (busy) return
    busy = true
    void look().finally(() => (busy = false))
  }, LOOK_EVERY_MS)
  return () => clearInterval(timer)
}

function upkeepOf({ metadata, spec }: Node, newRange: () => string): object | undefined {
  if (spec?.podCIDR !== undefined) return undefined
  const podCIDR = newRange()
  const { resourceVersion } = metadata ?? {}
  return { metadata: { resourceVersion }, spec: { podCIDR, podCIDRs: [podCIDR] } }
}
