/**
 * Node objects of scenarios look as they were recorded beside controllers that are not built here: the lifecycle controller
 * takes the taint of a new node away once it is Ready, the IPAM controller gives it a range of pod addresses. Without them no
 * daemon pod would be wanted anywhere.
 */
import { findCondition, resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'

const OF_SCENARIO = /^t[0-9a-f]{10}-/
const NOT_READY = 'node.kubernetes.io/not-ready'
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

function upkeepOf({ metadata, spec, status }: Node, newRange: () => string): object | undefined {
  const taints = spec?.taints ?? []
  const isReady = findCondition(status?.conditions, 'Ready')?.status === 'True'
  const kept = taints.filter(({ key }) => key !== NOT_READY)
  const isRid = isReady && kept.length < taints.length
  if (spec?.podCIDR !== undefined && !isRid) return undefined
  const podCIDR = spec?.podCIDR ?? newRange()
  return {
    metadata: { resourceVersion: metadata?.resourceVersion },
    spec: {
      podCIDR,
      podCIDRs: [podCIDR],
      ...(isRid ? { taints: kept.length === 0 ? null : kept } : {}),
    },
  }
}
