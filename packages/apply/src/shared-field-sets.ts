/**
 * One object for each field set, however many objects of the server have it: all events of one controller have the same, and all
 * pods of one Deployment but for their addresses. A set of an event alone takes more memory than the rest of the event.
 */
import type { FieldSet } from './field-set.ts'

/** Nodes of sets. Beyond it all are forgotten, and sets that are written later share among themselves. */
const MOST_NODES = 16_384

let byShape = new Map<string, FieldSet>()
/** Of nodes that are in `byShape`. */
let numbers = new WeakMap<FieldSet, number>()

/** The same set, canonical by its parts: equal sets are one object. Its nodes are frozen. */
export function shared(set: FieldSet): FieldSet {
  if (byShape.size > MOST_NODES) {
    byShape = new Map()
    numbers = new WeakMap()
  }
  return sharedNode(set)
}

function sharedNode(node: FieldSet): FieldSet {
  if (numbers.has(node)) return node
  let result = node
  let shape = ''
  for (const element in node) {
    const child = node[element]!
    const one = sharedNode(child)
    if (one !== child) {
      if (result === node) result = { ...node }
      ;(result as Record<string, FieldSet>)[element] = one
    }
    // The length tells elements apart whatever is in them: fields of custom resources have any name.
    shape += `${numbers.get(one)} ${element.length} ${element}`
  }
  const known = byShape.get(shape)
  if (known !== undefined) return known
  byShape.set(shape, Object.freeze(result))
  numbers.set(result, byShape.size)
  return result
}
