/**
 * Sets of field paths in the form in which managedFields stores them (FieldsV1): a tree whose keys are path elements
 * (`f:name`, `k:{...}`, `v:value`, `i:index`) and whose `.` says that the node itself belongs to the set, which an empty
 * node does without saying. Trees are immutable and shared between stored objects, so an update that touches two fields
 * builds only the nodes above them. Contract: docs/behaviour/api-server/patch-and-apply.md, Managed fields.
 */
import { byString, compareStrings } from '@gyropilot/foundation'
import { escapeHtml, parseExact, stringifyExact } from '@gyropilot/foundation/exact-json'
import { goNumber } from '@gyropilot/schema/go-number'
import { sortedJson } from '@gyropilot/schema/sorted-json'

export interface FieldSet {
  readonly [element: string]: FieldSet
}

type MutableFieldSet = Record<string, FieldSet>

const SELF = '.'

/** As the root: no paths. Below the root: the path itself and nothing under it. */
export const EMPTY: FieldSet = Object.freeze({})

export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false
  return true
}

/** Whether a node below the root belongs to the set itself. */
export function isMember(node: FieldSet): boolean {
  return SELF in node || isEmpty(node)
}

/** Whether the path belongs to the set. */
export function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set
  for (const element of path) {
    node = node[element]
    if (node === undefined) return false
  }
  return isMember(node)
}

/** The paths of the set in the order in which messages list them: those that end at a level before those that go deeper. */
export function* pathsIn(
  set: FieldSet,
  prefix: readonly string[] = [],
): Generator<readonly string[]> {
  const elements = Object.keys(set).filter((element) => element !== SELF)
  for (const element of elements) if (isMember(set[element]!)) yield [...prefix, element]
  for (const element of elements) yield* pathsIn(set[element]!, [...prefix, element])
}

export function setOf(...paths: readonly (readonly string[])[]): FieldSet {
  const builder = new FieldSetBuilder()
  for (const path of paths) builder.insert(path, path.length)
  return builder.build()
}

export function equals(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  let countA = 0
  for (const element in a) {
    const other = b[element]
    if (other === undefined || !equals(a[element]!, other)) return false
    countA++
  }
  let countB = 0
  for (const _ in b) countB++
  return countA === countB
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a
  if (isEmpty(a)) return b
  return joined(a, b)
}

/** Union of two nodes, at least one of which has keys; neither is taken for a leaf. */
function joined(a: FieldSet, b: FieldSet): FieldSet {
  let result: MutableFieldSet | undefined
  let grew = false
  for (const element in b) {
    const mine = a[element]
    const theirs = b[element]!
    const merged =
      mine === undefined ? theirs : element === SELF ? mine : unionOfNodes(mine, theirs)
    if (merged === mine) continue
    result ??= { ...a }
    result[element] = merged
    grew ||= mine === undefined
  }
  if (result === undefined) return a
  return grew ? inOrder(result) : result
}

function unionOfNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  const emptyA = isEmpty(a)
  const emptyB = isEmpty(b)
  if (emptyA && emptyB) return a
  if (emptyA) return withSelf(b)
  if (emptyB) return withSelf(a)
  return joined(a, b)
}

function withSelf(node: FieldSet): FieldSet {
  return SELF in node ? node : { [SELF]: EMPTY, ...node }
}

/** The paths of `a` that are not in `b`. A path stays when only its parent or its children are in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  return differenceBelow(a, b, false) ?? EMPTY
}

/** The paths of `a` that are neither in `b` nor below a path of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  return differenceBelow(a, b, true) ?? EMPTY
}

/**
 * Undefined when nothing is left. `a` itself when nothing went; else it is built anew, since V8 makes a dictionary of an object from
 * which a key is deleted, and writes the JSON of all that has one in it at half the speed.
 */
function differenceBelow(a: FieldSet, b: FieldSet, recursive: boolean): FieldSet | undefined {
  let changes: Map<string, FieldSet | undefined> | undefined
  for (const element in b) {
    if (element === SELF) continue
    const mine = a[element]
    if (mine === undefined) continue
    const rest = differenceOfNodes(mine, b[element]!, recursive)
    if (rest !== mine) (changes ??= new Map()).set(element, rest)
  }
  if (changes === undefined) return isEmpty(a) ? undefined : a
  const left: MutableFieldSet = {}
  for (const element in a) {
    const rest = changes.has(element) ? changes.get(element) : a[element]
    if (rest !== undefined) left[element] = rest
  }
  return isEmpty(left) ? undefined : left
}

function differenceOfNodes(a: FieldSet, b: FieldSet, recursive: boolean): FieldSet | undefined {
  const takenAway = isMember(b)
  if (takenAway && recursive) return undefined
  if (isEmpty(a)) return takenAway ? undefined : a
  const selfStays = SELF in a && !takenAway
  const children = differenceBelow(a, b, recursive)
  if (children === undefined) return undefined
  if (SELF in children && !selfStays) {
    const { [SELF]: _, ...rest } = children
    return isEmpty(rest) ? undefined : rest
  }
  // Only the node itself is left: its canonical form is the leaf.
  return onlySelf(children) ? EMPTY : children
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  let result: MutableFieldSet | undefined
  for (const element in a) {
    const theirs = b[element]
    if (theirs === undefined || element === SELF) continue
    const common = intersectionOfNodes(a[element]!, theirs)
    if (common === undefined) continue
    result ??= {}
    result[element] = common
  }
  return result ?? EMPTY
}

function intersectionOfNodes(a: FieldSet, b: FieldSet): FieldSet | undefined {
  const member = isMember(a) && isMember(b)
  const children = intersection(a, b)
  if (isEmpty(children)) return member ? EMPTY : undefined
  return member ? withSelf(children) : children
}

function onlySelf(node: FieldSet): boolean {
  for (const element in node) if (element !== SELF) return false
  return true
}

/** Collects paths; `build` once at the end puts them in order. */
export class FieldSetBuilder {
  readonly #root = new BuilderNode()
  #used = false

  get isEmpty(): boolean {
    return !this.#used
  }

  /** The first `length` elements of `path`: walkers pass their stack. */
  insert(path: readonly string[], length: number): void {
    this.#used = true
    let node = this.#root
    for (let i = 0; i < length; i++) {
      const children = (node.children ??= {})
      node = children[path[i]!] ??= new BuilderNode()
    }
    node.isMember = true
  }

  build(): FieldSet {
    return this.#used ? ordered(this.#root) : EMPTY
  }
}

/** Says by itself whether it has children: of a large object V8 lists all keys before `for...in` comes to the first. */
class BuilderNode {
  isMember = false
  children: Record<string, BuilderNode> | undefined = undefined
}

function ordered({ isMember, children }: BuilderNode): FieldSet {
  if (children === undefined) return EMPTY
  const result: MutableFieldSet = isMember ? { [SELF]: EMPTY } : {}
  const elements = Object.keys(children)
  if (!isOrdered(elements)) elements.sort(compareElements)
  for (const element of elements) result[element] = ordered(children[element]!)
  return result
}

/** The same node with its elements in order; itself when they are. */
function inOrder(node: MutableFieldSet): MutableFieldSet {
  const elements = Object.keys(node)
  if (isOrdered(elements)) return node
  const result: MutableFieldSet = {}
  for (const element of elements.sort(compareElements)) result[element] = node[element]!
  return result
}

function isOrdered(elements: readonly string[]): boolean {
  for (let i = 1; i < elements.length; i++)
    if (compareElements(elements[i - 1]!, elements[i]!) > 0) return false
  return true
}

/** `.`, then fields by name, list keys, set values, indexes. Numbers in keys and values compare as numbers. */
export function compareElements(a: string, b: string): number {
  const kind = kindRank(a) - kindRank(b)
  if (kind !== 0) return kind
  if (a === b) return 0
  if (a.startsWith('f:') || a === SELF) return compareStrings(a, b)
  return compareJson(parseExact(a.slice(2)), parseExact(b.slice(2)))
}

const KINDS = '.fkvi'

function kindRank(element: string): number {
  return KINDS.indexOf(element[0]!)
}

/** Keys have their fields in order of name, so two of them compare field by field. */
function compareJson(a: unknown, b: unknown): number {
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  if (isRecord(a) && isRecord(b)) {
    const left = Object.entries(a)
    const right = Object.entries(b)
    for (let i = 0; i < left.length && i < right.length; i++) {
      const [nameA, valueA] = left[i]!
      const [nameB, valueB] = right[i]!
      if (nameA !== nameB) return compareStrings(nameA, nameB)
      const order = compareJson(valueA, valueB)
      if (order !== 0) return order
    }
    return left.length - right.length
  }
  if (isNumeric(a) && isNumeric(b)) return a < b ? -1 : a > b ? 1 : 0
  const [left, right] = typeof a === typeof b ? [String(a), String(b)] : [typeof a, typeof b]
  return compareStrings(left, right)
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A field set that a client sent, brought to canonical form (keys of list items sorted, no blanks). Undefined when it is
 * none: an element of unknown form, a key that is no JSON.
 */
export function parseFieldSet(value: unknown): FieldSet | undefined {
  if (!isRecord(value)) return undefined
  const { [SELF]: _root, ...elements } = value
  return parseElements(elements)
}

/** What stands below `.` says nothing, and elements of a type that is not known yet are passed over with all below them. */
function parseElements(value: unknown): FieldSet | undefined {
  if (value === null) return EMPTY
  if (!isRecord(value)) return undefined
  const result: MutableFieldSet = {}
  for (const [element, child] of Object.entries(value)) {
    if (element === SELF) {
      result[SELF] = EMPTY
      continue
    }
    if (/^[^fkvi]:/.test(element)) continue
    const canonical = canonicalElement(element)
    const node = parseElements(child)
    if (canonical === undefined || node === undefined) return undefined
    result[canonical] = onlySelf(node) ? EMPTY : node
  }
  return inOrder(result)
}

function canonicalElement(element: string): string | undefined {
  if (element.startsWith('f:')) return element
  const prefix = element.slice(0, 2)
  const text = element.slice(2)
  if (prefix === 'i:') return /^[+-]?\d+$/.test(text) ? indexElement(BigInt(text)) : undefined
  let value: unknown
  try {
    value = sortedJson(parseExact(text))
  } catch {
    return undefined
  }
  if (prefix === 'k:') return isRecord(value) ? keyElement(Object.entries(value)) : undefined
  return prefix === 'v:' ? valueElement(value) : undefined
}

/** Indexes are int64. */
function indexElement(index: bigint): string | undefined {
  return BigInt.asIntN(64, index) === index ? `i:${index}` : undefined
}

/** `k:{"containerPort":80,"protocol":"TCP"}` */
export function keyElement(fields: readonly (readonly [string, unknown])[]): string {
  const sorted = fields.length < 2 ? fields : [...fields].sort(byString(([name]) => name))
  const parts: string[] = []
  for (const [name, value] of sorted) parts.push(`${JSON.stringify(name)}:${elementText(value)}`)
  return `k:{${parts.join(',')}}`
}

/** As it stands in an element. */
export function elementText(value: unknown): string {
  return escapeHtml(stringifyExact(value))
}

/** `v:"a.example.com/finalizer"` */
export function valueElement(value: unknown): string {
  return `v:${elementText(value)}`
}

/** As messages print paths: `.spec.ports[port=81,protocol="TCP"].name`, `.metadata.finalizers[="x"]`. */
export function formatPath(path: readonly string[]): string {
  let text = ''
  for (const element of path) text += formatElement(element)
  return text
}

export function formatElement(element: string): string {
  const rest = element.slice(2)
  switch (element[0]) {
    case 'f':
      return `.${rest}`
    case 'k': {
      const fields = Object.entries(parseExact(rest) as Record<string, unknown>)
      return `[${fields.map(([name, value]) => `${name}=${shownValue(value)}`).join(',')}]`
    }
    case 'v':
      return `[=${shownValue(parseExact(rest))}]`
    default:
      return `[${rest}]`
  }
}

/** Values that are no scalars are no keys; paths in refusals show them all the same. */
function shownValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shownValue).join(',')}]`
  if (typeof value === 'number') return goNumber(value)
  if (!isRecord(value)) return stringifyExact(value)
  return Object.entries(value)
    .toSorted(byString(([name]) => name))
    .map(([name, member]) => `${name}=${shownValue(member)}`)
    .join('')
}
