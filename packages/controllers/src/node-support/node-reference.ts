import type { Node } from '@gyropilot/api'

/** The node as events of the node controllers name it: by name and uid, of whatever version. */
export function nodeReference({ metadata }: Node): Node {
  const { name, uid } = metadata ?? {}
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid } }
}
