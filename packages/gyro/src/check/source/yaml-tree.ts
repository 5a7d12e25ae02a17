/** One YAML document as kubectl reads it, with the place of every value. The grammar is the library's, the meaning of scalars is ours. */
import { createRequire } from 'node:module'
import type * as YamlModule from 'yaml'
import type { Alias, Node, Scalar, YAMLMap } from 'yaml'
import { plainScalar } from '@gyropilot/schema/yaml-scalar'
import { SourceError } from './source-node.ts'
import type { ParsedSource, RepeatedKey, SourceMember, SourceNode } from './source-node.ts'

let library: typeof YamlModule | undefined

/** Loaded with the first document that needs it: most are read without. */
function yaml(): typeof YamlModule {
  library ??= createRequire(import.meta.url)('yaml') as typeof YamlModule
  return library
}

/** Aliases may not blow a small document up. */
const MOST_VALUES = 400_000

/** `offset`: where the document begins in its file. Throws SourceError in the words of kubectl, as far as they are known. */
export function parseYaml(text: string, offset: number): ParsedSource {
  const document = yaml().parseDocument(text, {
    version: '1.1',
    schema: 'failsafe',
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
  })
  const [broken] = document.errors.filter(({ code }) => code !== 'MULTIPLE_DOCS')
  if (broken !== undefined)
    throw new SourceError(problemText(broken.code, broken.message), offset + broken.pos[0])
  const reader = new Reader(offset)
  const { contents } = document
  const isEmpty = contents === null || (yaml().isScalar(contents) && contents.source === '')
  return {
    root: isEmpty ? undefined : reader.node(contents),
    repeatedKeys: reader.repeatedKeys,
  }
}

const WORDS: Partial<Readonly<Record<string, string>>> = {
  TAB_AS_INDENT: 'found character that cannot start any token: a tab, where YAML takes only spaces',
  BLOCK_AS_IMPLICIT_KEY: 'mapping values are not allowed in this context',
  MULTILINE_IMPLICIT_KEY: "could not find expected ':'",
  BAD_INDENT: 'did not find expected key: the indentation fits nothing above',
}

function problemText(code: string, message: string): string {
  if (message.startsWith('Nested mappings are not allowed'))
    return 'mapping values are not allowed in this context'
  return WORDS[code] ?? `${message.charAt(0).toLowerCase()}${message.slice(1)}`
}

class Reader {
  readonly repeatedKeys: RepeatedKey[] = []
  readonly #offset: number
  /** Anchors so far; the same name may be given again. */
  readonly #anchors = new Map<string, SourceNode>()
  readonly #open = new Set<string>()
  /** How many values a node stands for, its aliases written out. */
  readonly #sizes = new WeakMap<SourceNode, number>()
  #count = 0

  constructor(offset: number) {
    this.#offset = offset
  }

  node(node: unknown): SourceNode {
    if (yaml().isAlias(node)) return this.#alias(node)
    const anchor = (node as (Node & { anchor?: string }) | null)?.anchor
    if (anchor === undefined) return this.#sized(node)
    this.#open.add(anchor)
    const read = this.#sized(node)
    this.#open.delete(anchor)
    this.#anchors.set(anchor, read)
    return read
  }

  #sized(node: unknown): SourceNode {
    const before = this.#count
    this.#grow(1, node)
    const read = this.#content(node)
    this.#sizes.set(read, this.#count - before)
    return read
  }

  #grow(values: number, node: unknown): void {
    this.#count += values
    if (this.#count > MOST_VALUES)
      throw new SourceError('document contains excessive aliasing', this.#startOf(node))
  }

  #content(node: unknown): SourceNode {
    if (yaml().isMap(node)) return this.#map(node)
    if (yaml().isSeq(node)) {
      const items = node.items.map((item) => this.node(item))
      return { start: this.#startOf(node), value: items.map(({ value }) => value), items }
    }
    if (yaml().isScalar(node)) return { start: this.#startOf(node), value: this.#scalar(node) }
    return { start: this.#startOf(node), value: null }
  }

  #alias(alias: Alias): SourceNode {
    const start = this.#startOf(alias)
    if (this.#open.has(alias.source))
      throw new SourceError(`anchor '${alias.source}' value contains itself`, start)
    const read = this.#anchors.get(alias.source)
    if (read === undefined)
      throw new SourceError(`unknown anchor '${alias.source}' referenced`, start)
    this.#grow(this.#sizes.get(read) ?? 1, alias)
    return { ...read, start }
  }

  #map(map: YAMLMap): SourceNode {
    const members = new Map<string, SourceMember>()
    const written = new Set<string>()
    const isSet = map.tag === 'tag:yaml.org,2002:set'
    for (const { key, value } of map.items) {
      const keyStart = this.#startOf(key)
      if (yaml().isScalar(key) && key.source === '<<' && key.type === 'PLAIN') {
        merge(members, this.node(value), keyStart)
        continue
      }
      const name = this.#key(key)
      if (written.has(name)) this.repeatedKeys.push({ key: name, start: keyStart })
      written.add(name)
      // A key that is repeated keeps its first place in the order, and is told of by its last.
      members.set(name, {
        keyStart,
        node: value === null && !isSet ? { start: keyStart, value: null } : this.node(value),
      })
    }
    const entries = [...members].map(([name, { node }]) => [name, node.value] as const)
    return { start: this.#startOf(map), value: Object.fromEntries(entries), members }
  }

  #key(key: unknown): string {
    const read = this.node(key)
    if (read.members !== undefined || read.items !== undefined)
      throw new SourceError('invalid map key', read.start)
    if (read.value === null) throw new SourceError('unsupported map key of type: null', read.start)
    return String(read.value)
  }

  #scalar(scalar: Scalar): unknown {
    const content = String(scalar.value ?? '')
    switch (scalar.tag) {
      case 'tag:yaml.org,2002:binary':
        return Buffer.from(content, 'base64').toString('utf8')
      case 'tag:yaml.org,2002:int':
      case 'tag:yaml.org,2002:float':
      case 'tag:yaml.org,2002:bool':
      case 'tag:yaml.org,2002:null':
        return this.#tagged(scalar, content)
      case undefined:
        return scalar.type === 'PLAIN' ? this.#finite(plainScalar(content), scalar) : content
      default:
        return content
    }
  }

  #tagged(scalar: Scalar, content: string): unknown {
    const value = plainScalar(content)
    const wanted = scalar.tag!.replace('tag:yaml.org,2002:', '')
    const isNumber = typeof value === 'number' || typeof value === 'bigint'
    const fits =
      wanted === 'bool'
        ? typeof value === 'boolean'
        : wanted === 'null'
          ? value === null
          : isNumber && (wanted === 'float' || Number.isInteger(Number(value)))
    if (!fits)
      throw new SourceError(
        `cannot decode !!str \`${content}\` as a !!${wanted}`,
        this.#startOf(scalar),
      )
    return this.#finite(value, scalar)
  }

  #finite(value: unknown, scalar: Scalar): unknown {
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
    throw new SourceError(`json: unsupported value: ${shown}`, this.#startOf(scalar))
  }

  #startOf(node: unknown): number {
    const range = (node as { range?: readonly number[] | null } | null)?.range
    return this.#offset + (range?.[0] ?? 0)
  }
}

/** In the order of the text, as kubectl does: what stands behind wins. Of several maps in one merge the first. */
function merge(members: Map<string, SourceMember>, merged: SourceNode, keyStart: number): void {
  for (const map of (merged.items ?? [merged]).toReversed()) {
    if (map.members === undefined)
      throw new SourceError('map merge requires map or sequence of maps as the value', keyStart)
    for (const [name, member] of map.members) members.set(name, member)
  }
}
