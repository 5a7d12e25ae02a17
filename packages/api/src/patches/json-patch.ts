/**
 * JSON patch, RFC 6902, with the deviations that clients of Kubernetes rely on.
 * Contract: docs/behaviour/api-server/patch-and-apply.md.
 */
import { deepEqual } from '../values/deep-equal.ts'
import { type JsonObject, isObject, own, setOwn } from '../values/json-objects.ts'

export interface JsonPatchOperation {
  readonly op: string
  readonly path: string
  /** For move and copy. */
  readonly from?: string
  /** For add, replace and test. Absent is null. */
  readonly value?: unknown
}

/** One operation cannot be applied; none of the patch is. */
export class JsonPatchError extends Error {
  override readonly name = 'JsonPatchError'
  /** Place of the operation in the patch. */
  readonly index: number

  constructor(index: number, message: string) {
    super(message)
    this.index = index
  }
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
  operations.forEach((operation, index) => {
    const refuse = (message: string): never => {
      throw new JsonPatchError(index, message)
    }
    if (operation.op === 'copy') {
      const value = read(result, operation.from, refuse) ?? null
      copiedBytes += JSON.stringify(value, withoutBigInts).length
      if (copiedBytes > maxCopiedBytes) {
        refuse(
          `Unable to complete the copy, the accumulated size increase of copy is ${copiedBytes}, exceeding the limit ${maxCopiedBytes}`,
        )
      }
      result = edit(result, operation.path, refuse, (container, key) =>
        add(container, key, value, refuse),
      )
    } else {
      result = applyOne(result, operation, refuse)
    }
  })
  return result
}

type Container = JsonObject | unknown[]
type Refuse = (message: string) => never

function applyOne(document: unknown, operation: JsonPatchOperation, refuse: Refuse): unknown {
  const { op, path, value = null } = operation
  switch (op) {
    case 'add':
      return edit(document, path, refuse, (container, key) => add(container, key, value, refuse))
    case 'remove':
      return edit(document, path, refuse, (container, key) => remove(container, key, refuse))
    case 'replace':
      if (path === '') return replaceRoot(value, refuse)
      return edit(document, path, refuse, (container, key) =>
        replace(container, key, value, refuse),
      )
    case 'test':
      return test(document, path, value, refuse)
    case 'move': {
      const moved = read(document, operation.from, refuse) ?? null
      const without = edit(document, operation.from, refuse, (container, key) =>
        remove(container, key, refuse),
      )
      return edit(without, path, refuse, (container, key) => add(container, key, moved, refuse))
    }
    default:
      return refuse(`Unexpected kind: ${op}`)
  }
}

function replaceRoot(value: unknown, refuse: Refuse): unknown {
  if (typeof value !== 'object' || value === null) {
    return refuse('replace operation value must be object or array')
  }
  return value
}

function test(document: unknown, path: string, value: unknown, refuse: Refuse): unknown {
  const found = path === '' ? document : read(document, path, refuse)
  // An absent key equals null: clients test for absence this way.
  if (!deepEqual(found ?? null, value)) refuse(`testing value ${path} failed`)
  return document
}

/** The segments of a pointer. Whatever stands before the first `/` is dropped, also when it is not empty. */
function segmentsOf(path: unknown, refuse: Refuse): readonly string[] {
  const parts = typeof path === 'string' ? path.split('/') : []
  if (parts.length < 2)
    return refuse(`operation does not apply: doc is missing path: "${String(path)}"`)
  return parts.slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function child(container: unknown, key: string): unknown {
  if (Array.isArray(container))
    return /^[+-]?\d+$/.test(key) ? container.at(Number(key)) : undefined
  return isObject(container) ? own(container, key) : undefined
}

/** The value at a path: undefined for a missing key of an existing object. */
function read(document: unknown, path: unknown, refuse: Refuse): unknown {
  const segments = segmentsOf(path, refuse)
  const key = segments.at(-1)!
  let container = document
  for (const segment of segments.slice(0, -1)) container = child(container, segment)
  if (Array.isArray(container)) return container[existingIndex(container, key, refuse)]
  if (!isObject(container))
    return refuse(`operation does not apply: doc is missing path: "${String(path)}"`)
  return own(container, key)
}

/** Copies the containers on the way to a path and lets `change` edit the last one. */
function edit(
  document: unknown,
  path: unknown,
  refuse: Refuse,
  change: (container: Container, key: string) => void,
): unknown {
  const segments = segmentsOf(path, refuse)
  const descend = (node: unknown, depth: number): Container => {
    if (!Array.isArray(node) && !isObject(node)) {
      return refuse(`operation does not apply: doc is missing path: "${String(path)}"`)
    }
    const copy: Container = Array.isArray(node) ? [...node] : { ...node }
    const key = segments[depth]!
    if (depth === segments.length - 1) {
      change(copy, key)
      return copy
    }
    const inner = descend(child(copy, key), depth + 1)
    if (Array.isArray(copy)) copy[existingIndex(copy, key, refuse)] = inner
    else setOwn(copy, key, inner)
    return copy
  }
  return descend(document, 0)
}

function add(container: Container, key: string, value: unknown, refuse: Refuse): void {
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
  const index = listIndex(key, refuse)
  if (index >= length || index < -length) refuse(`Unable to access invalid index: ${index}`)
  container.splice(index < 0 ? index + length : index, 0, value)
}

function remove(container: Container, key: string, refuse: Refuse): void {
  if (Array.isArray(container)) container.splice(existingIndex(container, key, refuse), 1)
  else if (Object.hasOwn(container, key)) delete container[key]
  else refuse(`Unable to remove nonexistent key: ${key}`)
}

/** A missing key of an object is added; a missing index is an error. */
function replace(container: Container, key: string, value: unknown, refuse: Refuse): void {
  if (Array.isArray(container)) container[existingIndex(container, key, refuse)] = value
  else setOwn(container, key, value)
}

function listIndex(key: string, refuse: Refuse): number {
  if (!/^[+-]?\d+$/.test(key)) refuse(`value was not a proper array index: '${key}'`)
  return Number(key)
}

function existingIndex(list: readonly unknown[], key: string, refuse: Refuse): number {
  const index = listIndex(key, refuse)
  if (index >= list.length || index < -list.length)
    refuse(`Unable to access invalid index: ${index}`)
  return index < 0 ? index + list.length : index
}

/** Integers beyond what numbers hold are bigints, which JSON.stringify refuses. */
function withoutBigInts(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
