/**
 * The server taints a new node as not ready; in a cluster the node lifecycle controller takes the taint away once the node is
 * Ready. This stands in for it, for managers that do not run that controller: a node that is Ready takes its own taint away.
 */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'

const NOT_READY = 'node.kubernetes.io/not-ready'

export async function removeNotReadyTaint(client: Client, node: Node): Promise<Node> {
  const nodes = client.resource(resources.nodes)
  let current = node
  for (;;) {
    const taints = current.spec?.taints ?? []
    const kept = taints.filter(({ key }) => key !== NOT_READY)
    if (kept.length === taints.length) return current
    const { name = '', resourceVersion } = current.metadata ?? {}
    const value = { metadata: { resourceVersion }, spec: { taints: kept } }
    try {
      return await nodes.patch(name, { type: 'merge', value })
    } catch (error) {
      if (isNotFound(error)) return current
      if (!isConflict(error)) throw error
      current = await nodes.get(name)
    }
  }
}
