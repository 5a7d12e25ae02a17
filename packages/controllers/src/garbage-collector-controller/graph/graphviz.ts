/** The graph as text for Graphviz. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Debug. Pure. */
import type { DependencyGraph } from './dependency-graph.ts'
import type { GraphNode } from './graph-node.ts'

/**
 * Arrows go from dependents to owners. With `uids`: these nodes and everything that is connected with them, up and down.
 * Nodes without owners and dependents are left out.
 */
export function graphvizOf(graph: DependencyGraph, uids: readonly string[] = []): string {
  const wanted = uids.length === 0 ? [...graph.nodes()] : connected(graph, uids)
  const shown = wanted.filter(({ owners, dependents }) => owners.length + dependents.size > 0)
  const lines = ['strict digraph full {', '  // Node definitions.']
  for (const node of shown) {
    lines.push(`  ${quoted(node.identity.uid)} [`, `    label=${quoted(labelOf(node))}`, '  ];')
  }
  lines.push('', '  // Edge definitions.')
  for (const { identity, owners } of shown) {
    for (const { uid } of owners) {
      if (graph.get(uid)) lines.push(`  ${quoted(identity.uid)} -> ${quoted(uid)};`)
    }
  }
  return [...lines, '}', ''].join('\n')
}

function connected(graph: DependencyGraph, uids: readonly string[]): readonly GraphNode[] {
  const found = new Set<GraphNode>()
  const pending = uids.map((uid) => graph.get(uid))
  for (let node = pending.pop(); node !== undefined || pending.length > 0; node = pending.pop()) {
    if (node === undefined || found.has(node)) continue
    found.add(node)
    pending.push(...node.dependents, ...node.owners.map(({ uid }) => graph.get(uid)))
  }
  return [...found]
}

function labelOf(node: GraphNode): string {
  const { uid, namespace, name, apiVersion, kind } = node.identity
  const flags = [
    node.isVirtual ? 'virtual' : '',
    node.isBeingDeleted ? 'beingDeleted' : '',
    node.isDeletingDependents ? 'deletingDependents' : '',
  ]
  const lines = [`uid=${uid}`, `namespace=${namespace}`, `name=${name}`, `${apiVersion}/${kind}`]
  return [...lines, ...flags.filter(Boolean)].join('\n')
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
