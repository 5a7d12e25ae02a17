/** From the nodes of a YAML document to JSON values, and what cannot become one, in the words of the real reader. */
import { isAlias, isMap, isScalar, isSeq } from 'yaml'
import type { Scalar, YAMLMap } from 'yaml'
import { compareStrings } from '@gyropilot/foundation'
import { plainScalar } from '@gyropilot/schema/yaml-scalar'

/** The message is what stands behind `(must be of type ConfigMap): `. */
export class YamlError extends Error {}

/** Aliases may not blow a small document up. */
const MOST_VALUES = 400_000
const CORE_TAG = 'tag:yaml.org,2002:'

/** Anything that JSON can hold; integers beyond what a number holds are bigints. Throws YamlError. */
export function valueOfYaml(contents: unknown): unknown {
  const reader = new Reader()
  const value = reader.value(contents)
  if (reader.hasInfinite) refuseInfinite(value)
  return value
}

class Reader {
  /** Anchors so far; the same name may be given again. */
  readonly #anchors = new Map<string, { readonly value: unknown; readonly size: number }>()
  readonly #open = new Set<string>()
  #count = 0
  /** JSON has no such numbers, which the real reader notices when all is read. */
  hasInfinite = false

  value(node: unknown): unknown {
    if (isAlias(node)) {
      if (this.#open.has(node.source))
        throw new YamlError(`yaml: anchor '${node.source}' value contains itself`)
      const anchored = this.#anchors.get(node.source)
      if (anchored === undefined)
        throw new YamlError(`yaml: unknown anchor '${node.source}' referenced`)
      this.#grow(anchored.size)
      return anchored.value
    }
    const anchor = (node as { anchor?: string } | null)?.anchor
    if (anchor === undefined) return this.#content(node)
    const before = this.#count
    this.#open.add(anchor)
    const value = this.#content(node)
    this.#open.delete(anchor)
    this.#anchors.set(anchor, { value, size: this.#count - before })
    return value
  }

  #grow(values: number): void {
    this.#count += values
    if (this.#count > MOST_VALUES) throw new YamlError('yaml: document contains excessive aliasing')
  }

  #content(node: unknown): unknown {
    this.#grow(1)
    if (isMap(node)) return this.#map(node)
    if (isSeq(node)) return node.items.map((item) => this.value(item))
    if (!isScalar(node)) return null
    const value = scalarOf(node)
    this.hasInfinite ||= typeof value === 'number' && !Number.isFinite(value)
    return value
  }

  #map(map: YAMLMap): Record<string, unknown> {
    const entries = new Map<string, unknown>()
    for (const { key, value } of map.items) {
      if (isScalar(key) && key.source === '<<' && key.type === 'PLAIN')
        mergeInto(entries, this.value(value))
      else {
        const read = this.value(value)
        entries.set(this.#key(key, read), read)
      }
    }
    return Object.fromEntries(entries)
  }

  #key(node: unknown, value: unknown): string {
    const key = isScalar(node) ? scalarOf(node) : this.value(node)
    if (typeof key === 'object' && key !== null)
      throw new YamlError(`yaml: invalid map key: ${goSyntax(key)}`)
    if (key === null) throw unsupportedKey('%!s(<nil>)', '<nil>', value)
    return typeof key === 'number'
      ? numberKey(key, String((node as Scalar).source), value)
      : String(key)
  }
}

/** In the order of the text: what stands behind wins. Of several maps in one merge the first. */
function mergeInto(entries: Map<string, unknown>, merged: unknown): void {
  for (const map of (Array.isArray(merged) ? merged : [merged]).toReversed() as unknown[]) {
    if (typeof map !== 'object' || map === null || Array.isArray(map))
      throw new YamlError('yaml: map merge requires map or sequence of maps as the value')
    for (const [name, value] of Object.entries(map)) entries.set(name, value)
  }
}

function scalarOf(scalar: Scalar): unknown {
  const content = String(scalar.value ?? '')
  const tag = scalar.tag?.startsWith(CORE_TAG) ? scalar.tag.slice(CORE_TAG.length) : scalar.tag
  if (tag === undefined) return scalar.type === 'PLAIN' ? plainScalar(content) : content
  if (tag === 'binary') return Buffer.from(content, 'base64').toString('utf8')
  const value = plainScalar(content)
  const fits = FITS[tag]
  if (fits === undefined) return content
  if (!fits(value))
    throw new YamlError(`yaml: cannot decode !!${kindOf(value)} \`${content}\` as a !!${tag}`)
  return value
}

const isNumber = (value: unknown): boolean => typeof value === 'number' || typeof value === 'bigint'
const FITS: Readonly<Record<string, (value: unknown) => boolean>> = {
  int: (value) => isNumber(value) && Number.isInteger(Number(value)),
  float: isNumber,
  bool: (value) => typeof value === 'boolean',
  null: (value) => value === null,
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'boolean') return 'bool'
  if (!isNumber(value)) return 'str'
  return Number.isInteger(Number(value)) ? 'int' : 'float'
}

const WORDS: ReadonlyMap<number, string> = new Map([
  [Infinity, '.inf'],
  [-Infinity, '-.inf'],
  [Number.NaN, '.nan'],
])

const INTEGER = /^[-+]?(0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|[0-9_]+)$/

function numberKey(key: number, source: string, value: unknown): string {
  if (!INTEGER.test(source)) return WORDS.get(key) ?? floatKey(key)
  if (key < 2 ** 63) return String(key)
  const exact = BigInt(source.replace('+', '').replaceAll('_', ''))
  if (exact < 2n ** 64n) throw unsupportedKey('uint64', `0x${exact.toString(16)}`, value)
  return floatKey(key)
}

/** The fewest digits that tell a fraction of 32 bits, which is what keys pass through; nine always do. */
function floatKey(value: number): string {
  const single = Math.fround(value)
  if (!Number.isFinite(single)) return WORDS.get(single)!
  let digits = 0
  while (digits < 8 && Math.fround(Number(single.toExponential(digits))) !== single) digits++
  const shortest = single.toExponential(digits)
  const exponent = Number(shortest.slice(shortest.indexOf('e') + 1))
  if (exponent >= -4 && exponent < 6) return String(Number(shortest))
  return shortest.replace(/e([+-])(\d)$/, 'e$10$2')
}

function unsupportedKey(type: string, key: string, value: unknown): YamlError {
  const shown = value === null ? '<nil>' : goSyntax(value)
  return new YamlError(`unsupported map key of type: ${type}, key: ${key}, value: ${shown}`)
}

/** As Go writes a value in its own language. */
function goSyntax(value: unknown): string {
  if (value === null) return 'interface {}(nil)'
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`
  if (typeof value === 'object') {
    const members = Object.entries(value).toSorted(([a], [b]) => compareStrings(a, b))
    const shown = members.map(([name, member]) => `${JSON.stringify(name)}:${goSyntax(member)}`)
    return `map[interface {}]interface {}{${shown.join(', ')}}`
  }
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

/** Names the first in the order in which members are written. */
function refuseInfinite(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
    throw new YamlError(`json: unsupported value: ${shown}`)
  }
  if (typeof value !== 'object' || value === null) return
  const members = Object.entries(value)
  if (!Array.isArray(value)) members.sort(([a], [b]) => compareStrings(a, b))
  for (const [, member] of members) refuseInfinite(member)
}
