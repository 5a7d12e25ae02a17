/** From the nodes of a document to JSON values that know where they stand, and what cannot become one. */
import { goSyntax, keyText } from './keys.ts'
import type { Node } from './parser.ts'
import { scalarValue } from './tagged-scalar.ts'
import { YamlError } from './yaml-error.ts'

/** Shared where an alias repeats an anchor. */
export interface YamlNode {
  /** Offset in the text, in UTF-16 units. */
  readonly start: number
  /** The JSON value; integers of 64 bits that no number holds are bigints. Never edited. */
  readonly value: unknown
  readonly members?: ReadonlyMap<string, YamlMember>
  readonly items?: readonly YamlNode[]
}

export interface YamlMember {
  /** Where its key stands. */
  readonly keyStart: number
  readonly node: YamlNode
}

/** A key that its map has already, merged ones too: the last one wins. */
export interface RepeatedKey {
  readonly key: string
  /** Of the key. */
  readonly start: number
  /** `line 8: key "a" already set in map`: the line of the value. */
  readonly problem: string
}

export class ValueReader {
  readonly repeatedKeys: RepeatedKey[] = []
  /** What JSON cannot hold, by the value that it spoils: told of when all is read, unless a later one of its key has replaced it. */
  readonly #badKeys = new Map<YamlNode, YamlError>()
  readonly #badNumbers = new Map<YamlNode, YamlError>()
  readonly #open = new Set<Node>()
  readonly #anchored = new Map<Node, { readonly node: YamlNode; readonly size: number }>()
  /** How many values were read, those of aliases counted again; and how many of them by aliases. */
  #count = 0
  #aliasCount = 0
  #aliasDepth = 0

  readonly #offset: number

  constructor(offset: number) {
    this.#offset = offset
  }

  document(root: Node): YamlNode {
    const read = this.#node(root)
    for (const bad of [this.#badKeys, this.#badNumbers]) {
      const problem = bad.size === 0 ? undefined : firstWithin(read, bad)
      if (problem !== undefined) throw problem
    }
    return read
  }

  #node(node: Node): YamlNode {
    this.#grow(1, node)
    if (node.kind === 'alias') return this.#alias(node)
    if (node.kind === 'scalar') return this.#scalar(node)
    const before = this.#count
    this.#open.add(node)
    const read = node.kind === 'sequence' ? this.#sequence(node) : this.#mapping(node)
    this.#open.delete(node)
    this.#anchored.set(node, { node: read, size: this.#count - before })
    return read
  }

  #grow(values: number, { mark }: Node): void {
    this.#count += values
    if (this.#aliasDepth > 0) this.#aliasCount += values
    const isMuch = this.#aliasCount > 100 && this.#count > 1000
    if (isMuch && this.#aliasCount / this.#count > greatestShare(this.#count))
      throw new YamlError('yaml: document contains excessive aliasing', mark.offset)
  }

  #alias(alias: Node): YamlNode {
    const target = alias.target!
    if (this.#open.has(target)) throw containsItself(alias)
    this.#aliasDepth++
    const known = this.#anchored.get(target)
    if (known !== undefined) this.#grow(known.size + 1, alias)
    const { value, members, items } = known?.node ?? this.#node(target)
    this.#aliasDepth--
    return {
      start: this.#startOf(alias),
      value,
      ...(members && { members }),
      ...(items && { items }),
    }
  }

  #scalar(node: Node): YamlNode {
    const start = this.#startOf(node)
    const value = scalarValue(node)
    const read = { start, value }
    if (typeof value === 'number' && !Number.isFinite(value))
      this.#badNumbers.set(
        read,
        new YamlError(`json: unsupported value: ${goFloat(value)}`, node.mark.offset),
      )
    return read
  }

  #startOf({ mark }: Node): number {
    return this.#offset + mark.offset
  }

  #sequence(node: Node): YamlNode {
    const items = node.children.map((child) => this.#node(child))
    return { start: this.#startOf(node), value: items.map(({ value }) => value), items }
  }

  #mapping(node: Node): YamlNode {
    const map: OpenMap = { members: new Map(), value: {}, seen: new Set() }
    this.#fill(map, node)
    return { start: this.#startOf(node), value: map.value, members: map.members }
  }

  #fill(map: OpenMap, { children }: Node): void {
    for (let i = 0; i < children.length; i += 2) {
      const key = children[i]!
      const content = children[i + 1]!
      if (isMerge(key)) {
        this.#merge(map, content)
        continue
      }
      const keyNode = this.#key(key)
      const node = this.#node(content)
      const name = this.#nameOf(key, keyNode, node)
      const identity = identityOf(keyNode.value)
      if (map.seen.has(identity)) {
        const problem = `line ${content.mark.line + 1}: key ${identity} already set in map`
        this.repeatedKeys.push({ key: name, start: keyNode.start, problem })
      }
      map.seen.add(identity)
      map.members.set(name, { keyStart: keyNode.start, node })
      set(map.value, name, node.value)
    }
  }

  #key(key: Node): YamlNode {
    const read = this.#node(key)
    if (typeof read.value === 'object' && read.value !== null)
      throw new YamlError(`yaml: invalid map key: ${goSyntax(read.value)}`, key.mark.offset)
    return read
  }

  #nameOf(key: Node, { value }: YamlNode, content: YamlNode): string {
    const name = keyText(value, key.target?.text ?? key.text, content.value)
    if (typeof name === 'string') return name
    this.#badKeys.set(content, new YamlError(name.problem, key.mark.offset))
    return ''
  }

  /** What is merged is read into the map itself, and what comes later wins; so the last of several maps comes first. */
  #merge(map: OpenMap, node: Node): void {
    const parts = node.kind === 'sequence' ? node.children.toReversed() : [node]
    for (const part of parts) {
      const target = part.target ?? part
      if (target.kind !== 'mapping')
        throw new YamlError(
          'yaml: map merge requires map or sequence of maps as the value',
          part.mark.offset,
        )
      this.#grow(1, part)
      if (this.#open.has(target)) throw containsItself(part)
      const isAlias = part.kind === 'alias'
      if (isAlias) this.#aliasDepth++
      if (isAlias) this.#grow(1, part)
      this.#open.add(target)
      this.#fill(map, target)
      this.#open.delete(target)
      if (isAlias) this.#aliasDepth--
    }
  }
}

interface OpenMap {
  readonly members: Map<string, YamlMember>
  readonly value: Record<string, unknown>
  /** Keys with their types: 1 and "1" are two. */
  readonly seen: Set<string>
}

function containsItself({ text, mark }: Node): YamlError {
  return new YamlError(`yaml: anchor '${text}' value contains itself`, mark.offset)
}

function isMerge({ kind, text, plain, tag }: Node): boolean {
  return kind === 'scalar' && text === '<<' && (plain || tag === 'tag:yaml.org,2002:merge')
}

/** Keys of other types are other keys: 1 and "1". */
function identityOf(value: unknown): string {
  return value === null ? '<nil>' : goSyntax(value)
}

/** Small documents may be mostly aliases, large ones not. */
function greatestShare(count: number): number {
  if (count <= 400_000) return 0.99
  if (count >= 4_000_000) return 0.1
  return 0.99 - 0.89 * ((count - 400_000) / 3_600_000)
}

function firstWithin(node: YamlNode, bad: ReadonlyMap<YamlNode, YamlError>): YamlError | undefined {
  const own = bad.get(node)
  if (own !== undefined) return own
  const members = [...(node.members?.values() ?? [])].map((member) => member.node)
  for (const child of node.items ?? members) {
    const problem = firstWithin(child, bad)
    if (problem !== undefined) return problem
  }
  return undefined
}

function goFloat(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}

function set(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  // A field of this name is set, not inherited from.
  else
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
}
