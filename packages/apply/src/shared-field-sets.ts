/**
 * One object for each field set, however many objects of the server have it: all events of one controller have the same, and all
 * pods of one Deployment but for their addresses. A set of an event alone takes more memory than the rest of the event.
 */
import { EMPTY } from './field-set.ts'
import type { FieldSet } from './field-set.ts'

/** Beyond it all nodes are forgotten, and sets that are written later share among themselves. */
const MOST_NODES = 16_384
/** Of those that were met once: a pod's address, the owner of a node's lease. */
const MOST_NODES_MET_ONCE = 4_096

/** A canonical node. Its parents are found by the number, which no other node ever had. */
interface SharedNode {
  readonly node: FieldSet
  readonly number: number
}

interface SharedNodes {
  readonly byShape: Map<string, SharedNode>
  readonly ofNode: WeakMap<FieldSet, SharedNode>
}

const EMPTY_NODE: SharedNode = { node: EMPTY, number: 0 }
let nextNumber = 1

const noNodes = (): SharedNodes => ({ byShape: new Map(), ofNode: new WeakMap() })
let metOnce = noNodes()
let metAgain = noNodes()

/** The same set, canonical by its parts: equal sets are one object as long as they are remembered. Its nodes are frozen. */
export function shared(set: FieldSet): FieldSet {
  if (metOnce.byShape.size > MOST_NODES_MET_ONCE) metOnce = noNodes()
  if (metAgain.byShape.size > MOST_NODES) metAgain = noNodes()
  return sharedNode(set).node
}

/** Whether more than one object was found to have the set. */
export function isShared(set: FieldSet): boolean {
  return metAgain.ofNode.has(set)
}

function sharedNode(node: FieldSet): SharedNode {
  if (node === EMPTY) return EMPTY_NODE
  const canonical = metAgain.ofNode.get(node) ?? metOnce.ofNode.get(node)
  if (canonical !== undefined) return canonical
  let result = node
  let shape = ''
  for (const element in node) {
    const child = node[element]!
    const { node: one, number } = sharedNode(child)
    if (one !== child) {
      if (result === node) result = { ...node }
      ;(result as Record<string, FieldSet>)[element] = one
    }
    // The length tells elements apart whatever is in them: fields of custom resources have any name.
    shape += `${number} ${element.length} ${element}`
  }
  return shape === '' ? EMPTY_NODE : nodeOfShape(shape, result)
}

function nodeOfShape(shape: string, node: FieldSet): SharedNode {
  const known = metAgain.byShape.get(shape)
  if (known !== undefined) return known
  const again = metOnce.byShape.get(shape)
  if (again !== undefined) {
    metOnce.byShape.delete(shape)
    return added(metAgain, shape, again)
  }
  return added(metOnce, shape, { node: Object.freeze(node), number: nextNumber++ })
}

function added(to: SharedNodes, shape: string, one: SharedNode): SharedNode {
  to.byShape.set(shape, one)
  to.ofNode.set(one.node, one)
  return one
}
