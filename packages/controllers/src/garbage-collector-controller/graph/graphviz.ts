/** The graph as text for Graphviz. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Debug. Pure. */
import type { OwnerReference } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import type { DependencyGraph } from './dependency-graph.ts'
import type { GraphNode } from './graph-node.ts'

interface Vertex {
  readonly uid: string
  readonly lines: readonly string[]
}

/**
 * Arrows go from dependents to owners, and to owners that are not in the graph. With `uids`: these nodes and everything that is connected
 * with them, up and down. Nodes without owners and dependents are left out. Sorted by uid.
 */
export function graphvizOf(graph: DependencyGraph, uids: readonly string[] = []): string {
  const wanted = uids.length === 0 ? [...graph.nodes()] : connected(graph, uids)
  const shown = wanted.filter(({ owners, dependents }) => owners.length + dependents.size > 0)
  const vertices = new Map(shown.map((node) => [node.identity.uid, vertexOf(node)]))
  const edges: (readonly [from: string, to: string])[] = []
  for (const { identity, owners } of shown) {
    for (const owner of owners) {
      if (!vertices.has(owner.uid)) vertices.set(owner.uid, missingVertex(owner))
      edges.push([identity.uid, owner.uid])
    }
  }
  const blocks = [...vertices.values()].sort((a, b) => compareStrings(a.uid, b.uid))
  const arrows = edges.sort((a, b) => compareStrings(a[0], b[0]) || compareStrings(a[1], b[1]))
  return [
    'strict digraph full {',
    ...(blocks.length === 0 ? [] : ['  // Node definitions.']),
    ...blocks.flatMap(({ lines }) => lines),
    ...(arrows.length === 0 ? [] : ['  // Edge definitions.']),
    ...arrows.map(([from, to]) => `  ${quoted(from)} -> ${quoted(to)};`),
    '}',
    '',
  ].join('\n')
}

function connected(graph: DependencyGraph, uids: readonly string[]): readonly GraphNode[] {
  const found = new Set<GraphNode>()
  const pending = uids.map((uid) => graph.get(uid))
  for (let node = pending.pop(); node !== undefined || pending.length > 0; node = pending.pop()) {
    if (node === undefined || found.has(node)) continue
    found.add(node)
    for (const dependent of node.dependents) pending.push(dependent)
    for (const { uid } of node.owners) pending.push(graph.get(uid))
  }
  return [...found]
}

interface Flags {
  readonly missing?: boolean
  readonly beingDeleted?: boolean
  readonly deletingDependents?: boolean
  readonly virtual?: boolean
}

function vertexOf(node: GraphNode): Vertex {
  return vertex(node.identity, {
    beingDeleted: node.isBeingDeleted,
    deletingDependents: node.isDeletingDependents,
    virtual: node.isVirtual,
  })
}

/** Nothing but the reference tells of it, and that has no namespace. */
function missingVertex({ apiVersion, kind, name, uid }: OwnerReference): Vertex {
  return vertex({ apiVersion, kind, name, uid, namespace: '' }, { missing: true })
}

function vertex(identity: GraphNode['identity'], flags: Flags): Vertex {
  const { uid, namespace, name, apiVersion, kind } = identity
  const slash = apiVersion.indexOf('/')
  const [group, version] = [apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1)]
  const { missing = false, beingDeleted = false, deletingDependents = false } = flags
  const { virtual = false } = flags
  const told = [
    missing && 'missingFromGraph',
    beingDeleted && 'beingDeleted',
    deletingDependents && 'deletingDependents',
    virtual && 'virtual',
  ].filter((word) => word !== false)
  const type = [kind, version, group].filter(Boolean).join('.')
  const label = [
    `uid=${uid}`,
    `namespace=${namespace}`,
    `${type}/${name}`,
    ...(told.length === 0 ? [] : [told.join(',')]),
    '',
  ]
  const attributes = Object.entries({
    label: label.join('\n'),
    group,
    version,
    kind,
    namespace,
    name,
    uid,
    missing,
    beingDeleted,
    deletingDependents,
    virtual,
  })
  const lines = attributes.map(([key, value]) => `    ${key}=${quoted(String(value))}`)
  return { uid, lines: [`  ${quoted(uid)} [`, ...lines, '  ];'] }
}

function quoted(text: string): string {
  return JSON.stringify(text)
}
