/**
 * JSON patch, RFC 6902, with the deviations that clients of Kubernetes rely on.
 * Contract: docs/behaviour/api-server/patch-and-apply.md.
 */
import { compareStrings } from '@gyropilot/foundation'
import { deepEqual } from '../values/deep-equal.ts'
import { DEEPEST_NESTING, nestingOf } from '../values/nesting.ts'
import { type JsonObject, isObject, own, setOwn } from '../values/json-objects.ts'

export interface JsonPatchOperation {
  readonly op: string
  readonly path: string
  /** For move and copy. */
  readonly from?: string
  /** For add, replace and test. Absent is null. */
  readonly value?: unknown
}

/** One operation cannot be applied; none of the patch is. Messages are those of the library that kube-apiserver patches with. */
export class JsonPatchError extends Error {
  override readonly name: string = 'JsonPatchError'
  /** Place of the operation in the patch. */
  readonly index: number

  constructor(index: number, message: string) {
    super(message)
    this.index = index
  }
}

/** An operation `test` found another value. */
export class JsonPatchTestError extends JsonPatchError {
  override readonly name = 'JsonPatchTestError'
}

/** What the server allows a patch to add by `copy`, in bytes of JSON. */
export const MAX_COPIED_BYTES = 3 * 1024 * 1024

/** Applies all operations or throws JsonPatchError. The document is not changed; untouched parts are shared. */
export function applyJsonPatch(
  document: unknown,
  operations: readonly JsonPatchOperation[],
  maxCopiedBytes: number = MAX_COPIED_BYTES,
): unknown {
  let result = document
  let copiedBytes = 0
  const opened = new OpenedContainers()
  const nesting = new NestingBound()
  operations.forEach((operation, index) => {
    const refuse = (message: string): never => {
      throw new JsonPatchError(index, message)
    }
    checkPlaces(operation, refuse)
    if (operation.op === 'copy') {
      const { path, from } = operation
      const fromTexts = textsOf(
        refuse,
        `copy operation does not apply: doc is missing from path: ${textOf(from)}`,
        `error in copy for from: '${textOf(from)}'`,
      )
      const value = read(result, from, fromTexts) ?? null
      copiedBytes += JSON.stringify(value, asText).length
      if (copiedBytes > maxCopiedBytes) {
        refuse(
          `Unable to complete the copy, the accumulated size increase of copy is ${copiedBytes}, exceeding the limit ${maxCopiedBytes}`,
        )
      }
      const texts = textsOf(
        refuse,
        `copy operation does not apply: doc is missing destination path: ${textOf(path)}`,
        'error while adding value during copy',
      )
      opened.share()
      result = opened.edit(result, path, texts, (container, key) =>
        add(container, key, value, texts),
      )
    } else if (operation.op === 'test') {
      const { path, value = null } = operation
      if (!isFound(result, path, value, refuse))
        throw new JsonPatchTestError(index, `testing value ${textOf(path)} failed: test failed`)
    } else {
      result = applyOne(result, operation, opened, refuse)
    }
    nesting.grow(result, operation, refuse)
  })
  nesting.check(result, operations.length - 1)
  const finished = opened.finished(result)
  return isObject(finished) ? sorted(finished) : finished
}

/**
 * Operations may nest a document deeper than any that is sent: copies double it. Walking it after each of them would take ten
 * thousand walks; what is known of where a value goes bounds how deep it can be.
 */
class NestingBound {
  #most = DEEPEST_NESTING

  grow(document: unknown, { op, path, from, value }: JsonPatchOperation, refuse: Refuse): void {
    if (op === 'remove' || op === 'test') return
    const inner = from === undefined ? nestingOf(value) : this.#most - levelOf(from)
    this.#most = Math.max(this.#most, levelOf(path) + inner)
    // What walks it on the way takes twice as much.
    if (this.#most > 2 * DEEPEST_NESTING) this.#measure(document, refuse)
  }

  check(document: unknown, index: number): void {
    if (this.#most <= DEEPEST_NESTING) return
    this.#measure(document, (message) => {
      throw new JsonPatchError(index, message)
    })
  }

  #measure(document: unknown, refuse: Refuse): void {
    this.#most = Math.max(nestingOf(document), DEEPEST_NESTING)
    if (this.#most > DEEPEST_NESTING) refuse('exceeded max depth')
  }
}

/** How many containers are around what a path leads to. */
const levelOf = (path: string): number => path.split('/').length - 1

/** Operations that name the field which they miss. */
const TELLING = new Set(['replace', 'test', 'move'])

/** Places are texts, and those that an operation needs are there. */
function checkPlaces({ op, path, from }: JsonPatchOperation, refuse: Refuse): void {
  if (!OPERATIONS.has(op)) return
  if ((op === 'copy' || op === 'move') && typeof from !== 'string')
    refuse(`${op} operation failed to decode from: operation, missing from field: missing value`)
  if (typeof path === 'string') return
  const field = TELLING.has(op) ? 'operation missing path field: ' : ''
  refuse(`${op} operation failed to decode path: ${field}missing value`)
}

const OPERATIONS = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test'])

type Container = JsonObject | unknown[]
type Refuse = (message: string) => never

/** How an operation tells that there is nothing to hold what it is about, and what went wrong there. */
interface Texts {
  missing(): never
  failed(why: string): never
}

function textsOf(refuse: Refuse, missing: string, failed: string): Texts {
  return {
    missing: () => refuse(`${missing}: missing value`),
    failed: (why) => refuse(`${failed}: ${why}`),
  }
}

/** Absent is empty. */
function textOf(path: unknown): string {
  return typeof path === 'string' ? path : ''
}

function applyOne(
  document: unknown,
  operation: JsonPatchOperation,
  opened: OpenedContainers,
  refuse: Refuse,
): unknown {
  const { op, path, value = null } = operation
  const shown = textOf(path)
  switch (op) {
    case 'add': {
      const missing = `add operation does not apply: doc is missing path: "${shown}"`
      const texts = textsOf(refuse, missing, `error in add for path: '${shown}'`)
      return opened.edit(document, path, texts, (container, key) =>
        add(container, key, value, texts),
      )
    }
    case 'remove': {
      const missing = `remove operation does not apply: doc is missing path: "${shown}"`
      const texts = textsOf(refuse, missing, `error in remove for path: '${shown}'`)
      return opened.edit(document, path, texts, (container, key) => remove(container, key, texts))
    }
    case 'replace': {
      if (path === '') return replaceRoot(value, refuse)
      const absent = 'replace operation does not apply: doc is missing'
      const texts: Texts = {
        ...textsOf(refuse, `${absent} path: ${shown}`, ''),
        failed: () => refuse(`${absent} key: ${shown}: missing value`),
      }
      return opened.edit(document, path, texts, (container, key) =>
        replace(container, key, value, texts),
      )
    }
    case 'move':
      return move(document, operation, opened, refuse)
    default:
      return refuse(`Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`)
  }
}

function move(
  document: unknown,
  { from, path }: JsonPatchOperation,
  opened: OpenedContainers,
  refuse: Refuse,
): unknown {
  const key = textOf(from).split('/').at(-1)!.replaceAll('~1', '/').replaceAll('~0', '~')
  const missing = `move operation does not apply: doc is missing from path: ${textOf(from)}`
  const fromTexts = textsOf(refuse, missing, `error in move for path: '${key}'`)
  const moved = read(document, from, fromTexts) ?? null
  const without = opened.edit(document, from, fromTexts, (container, name) =>
    remove(container, name, fromTexts),
  )
  const shown = textOf(path)
  const texts = textsOf(
    refuse,
    `move operation does not apply: doc is missing destination path: ${shown}`,
    `error in move for path: '${shown}'`,
  )
  return opened.edit(without, path, texts, (container, name) => add(container, name, moved, texts))
}

function replaceRoot(value: unknown, refuse: Refuse): unknown {
  if (typeof value !== 'object' || value === null) {
    return refuse('replace operation value must be object or array: %!w(<nil>)')
  }
  return value
}

function isFound(document: unknown, path: string, value: unknown, refuse: Refuse): boolean {
  const missing = `test operation does not apply: is missing path: ${textOf(path)}`
  const texts = textsOf(refuse, missing, `error in test for path: '${textOf(path)}'`)
  const found = path === '' ? document : read(document, path, texts)
  // An absent key equals null: clients test for absence this way.
  return deepEqual(found ?? null, value)
}

/** The segments of a pointer. Whatever stands before the first `/` is dropped, also when it is not empty. */
function segmentsOf(path: unknown, texts: Texts): readonly string[] {
  const parts = textOf(path).split('/')
  if (parts.length < 2) return texts.missing()
  return parts.slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function child(container: unknown, key: string): unknown {
  if (Array.isArray(container))
    return /^[+-]?\d+$/.test(key) ? container.at(Number(key)) : undefined
  return isObject(container) ? own(container, key) : undefined
}

/** The value at a path: undefined for a missing key of an existing object. */
function read(document: unknown, path: unknown, texts: Texts): unknown {
  const segments = segmentsOf(path, texts)
  const key = segments.at(-1)!
  let container = document
  for (const segment of segments.slice(0, -1)) container = child(container, segment)
  if (Array.isArray(container)) return container[existingIndex(container, key, texts)]
  if (!isObject(container)) return texts.missing()
  return own(container, key)
}

/** The containers on the way to a path are copied when a patch first edits in them: ten thousand operations on one object copy it once. */
class OpenedContainers {
  /** Copies that stand in one place, and may be edited there. */
  #own = new WeakSet<Container>()
  readonly #opened = new WeakSet<Container>()

  /** What was opened so far may stand in a second place now. */
  share(): void {
    this.#own = new WeakSet()
  }

  /** Lets `change` edit the last container on the way to a path. */
  edit(
    document: unknown,
    path: unknown,
    texts: Texts,
    change: (container: Container, key: string) => void,
  ): unknown {
    const segments = segmentsOf(path, texts)
    const descend = (node: unknown, depth: number): Container => {
      if (!Array.isArray(node) && !isObject(node)) return texts.missing()
      const container = this.#open(node)
      const key = segments[depth]!
      if (depth === segments.length - 1) change(container, key)
      else {
        const inner = descend(child(container, key), depth + 1)
        if (Array.isArray(container)) container[existingIndex(container, key, texts)] = inner
        else setOwn(container, key, inner)
      }
      return container
    }
    return descend(document, 0)
  }

  /** With the keys of all that was opened in order. */
  finished(document: unknown): unknown {
    const done = new Map<Container, Container>()
    const finish = (node: unknown): unknown => {
      if (!(Array.isArray(node) || isObject(node)) || !this.#opened.has(node)) return node
      const known = done.get(node)
      if (known !== undefined) return known
      if (Array.isArray(node)) for (const [at, item] of node.entries()) node[at] = finish(item)
      else for (const key of Object.keys(node)) setOwn(node, key, finish(own(node, key)))
      const result = Array.isArray(node) ? node : sorted(node)
      done.set(node, result)
      return result
    }
    return finish(document)
  }

  #open(node: Container): Container {
    if (this.#own.has(node)) return node
    const copy: Container = Array.isArray(node) ? [...node] : { ...node }
    this.#own.add(copy)
    this.#opened.add(copy)
    return copy
  }
}

/** What was opened on the way is written with its keys in order; all else stands as it stood. */
function sorted(object: JsonObject): JsonObject {
  const keys = Object.keys(object)
  const inOrder = keys.toSorted(compareStrings)
  if (keys.every((key, index) => key === inOrder[index])) return object
  const copy: JsonObject = {}
  for (const key of inOrder) setOwn(copy, key, object[key])
  return copy
}

function add(container: Container, key: string, value: unknown, texts: Texts): void {
  if (!Array.isArray(container)) {
    setOwn(container, key, value)
    return
  }
  if (key === '-') {
    container.push(value)
    return
  }
  // Negative indices count in the list as it will be: -1 appends.
  const length = container.length + 1
  const index = listIndex(key, texts, `value was not a proper array index: '${key}': `)
  if (index >= length || index < -length)
    texts.failed(`Unable to access invalid index: ${index}: invalid index referenced`)
  container.splice(index < 0 ? index + length : index, 0, value)
}

function remove(container: Container, key: string, texts: Texts): void {
  if (Array.isArray(container)) container.splice(existingIndex(container, key, texts), 1)
  else if (Object.hasOwn(container, key)) delete container[key]
  else texts.failed(`Unable to remove nonexistent key: ${key}: missing value`)
}

/** A missing key of an object is added; a missing index is an error. */
function replace(container: Container, key: string, value: unknown, texts: Texts): void {
  if (Array.isArray(container)) container[existingIndex(container, key, texts)] = value
  else setOwn(container, key, value)
}

function listIndex(key: string, texts: Texts, lead = ''): number {
  if (!/^[+-]?\d+$/.test(key))
    texts.failed(`${lead}strconv.Atoi: parsing ${JSON.stringify(key)}: invalid syntax`)
  return Number(key)
}

function existingIndex(list: readonly unknown[], key: string, texts: Texts): number {
  const index = listIndex(key, texts)
  if (index >= list.length || index < -list.length)
    texts.failed(`Unable to access invalid index: ${index}: invalid index referenced`)
  return index < 0 ? index + list.length : index
}

/** Integers beyond what numbers hold are bigints, which JSON.stringify refuses; numbers that are kept as they were written are symbols. */
function asText(_key: string, value: unknown): unknown {
  if (typeof value === 'symbol') return value.description
  return typeof value === 'bigint' ? String(value) : value
}
