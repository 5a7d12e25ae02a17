/**
 * One object for each field set, however many objects of the server have it: all events of one controller have the same, and all
 * pods of one Deployment but for their addresses. A set of an event alone takes more memory than the rest of the event.
 */
import { EMPTY } from './field-set.ts'
import type { FieldSet } from './field-set.ts'

/** Nodes of sets. Beyond it all are forgotten, and sets that are written later share among themselves. */
const MOST_NODES = 16_384

/** Canonical nodes: their place is their number. */
let nodes: FieldSet[] = [EMPTY]
let numbersByShape = new Map([['', 0]])
let numbers = new WeakMap([[EMPTY, 0]])

/** The same set, canonical by its parts: equal sets are one object. Its nodes are frozen. */
export function shared(set: FieldSet): FieldSet {
  if (nodes.length > MOST_NODES) {
    nodes = [EMPTY]
    numbersByShape = new Map([['', 0]])
    numbers = new WeakMap([[EMPTY, 0]])
  }
  return nodes[numberOf(set)]!
}

function numberOf(node: FieldSet): number {
  const number = numbers.get(node)
  if (number !== undefined) return number
  let result = node
  let shape = ''
  for (const element in node) {
    const child = node[element]!
    // Most nodes end a path, and most of these are the same object already.
    const childNumber = child === EMPTY ? 0 : numberOf(child)
    const one = nodes[childNumber]!
    if (one !== child) {
      if (result === node) result = { ...node }
      ;(result as Record<string, FieldSet>)[element] = one
    }
    // The length tells elements apart whatever is in them: fields of custom resources have any name.
    shape += `${childNumber} ${element.length} ${element}`
  }
  const known = numbersByShape.get(shape)
  if (known !== undefined) return known
  const added = nodes.push(Object.freeze(result)) - 1
  numbersByShape.set(shape, added)
  numbers.set(result, added)
  return added
}
