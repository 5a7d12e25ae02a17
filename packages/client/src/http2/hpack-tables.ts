/** The static table of RFC 7541, appendix A: names, and values where they have one. Numbers start at 1. */
const STATIC_FIELDS: readonly (readonly [string, string?])[] = [
  [':authority'],
  [':method', 'GET'],
  [':method', 'POST'],
  [':path', '/'],
  [':path', '/index.html'],
  [':scheme', 'http'],
  [':scheme', 'https'],
  [':status', '200'],
  [':status', '204'],
  [':status', '206'],
  [':status', '304'],
  [':status', '400'],
  [':status', '404'],
  [':status', '500'],
  ['accept-charset'],
  ['accept-encoding', 'gzip, deflate'],
  ['accept-language'],
  ['accept-ranges'],
  ['accept'],
  ['access-control-allow-origin'],
  ['age'],
  ['allow'],
  ['authorization'],
  ['cache-control'],
  ['content-disposition'],
  ['content-encoding'],
  ['content-language'],
  ['content-length'],
  ['content-location'],
  ['content-range'],
  ['content-type'],
  ['cookie'],
  ['date'],
  ['etag'],
  ['expect'],
  ['expires'],
  ['from'],
  ['host'],
  ['if-match'],
  ['if-modified-since'],
  ['if-none-match'],
  ['if-range'],
  ['if-unmodified-since'],
  ['last-modified'],
  ['link'],
  ['location'],
  ['max-forwards'],
  ['proxy-authenticate'],
  ['proxy-authorization'],
  ['range'],
  ['referer'],
  ['refresh'],
  ['retry-after'],
  ['server'],
  ['set-cookie'],
  ['strict-transport-security'],
  ['transfer-encoding'],
  ['user-agent'],
  ['vary'],
  ['via'],
  ['www-authenticate'],
]

export const STATIC_COUNT = STATIC_FIELDS.length
export const STATIC_NAMES: readonly string[] = STATIC_FIELDS.map(([name]) => name)
export const STATIC_VALUES: readonly string[] = STATIC_FIELDS.map(([, value]) => value ?? '')
/** The first number of each name. */
export const STATIC_NUMBER_OF: ReadonlyMap<string, number> = new Map(
  STATIC_NAMES.map((name, i): [string, number] => [name, i + 1]).toReversed(),
)
/** Of pairs that are there with their value: by name, then by value. */
export const STATIC_PAIR_NUMBERS: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  [...STATIC_NUMBER_OF.keys()].map((name) => [
    name,
    new Map(
      STATIC_FIELDS.flatMap(([other, value], i): [string, number][] =>
        other === name && value !== undefined ? [[value, i + 1]] : [],
      ),
    ),
  ]),
)

export const DEFAULT_TABLE_BYTES = 4096
/** What an entry counts beside its texts (section 4.1). */
export const ENTRY_OVERHEAD_BYTES = 32
const RING = DEFAULT_TABLE_BYTES / ENTRY_OVERHEAD_BYTES

/** The entries that one side has added, newest first, within a bound of bytes that is 4,096 at most. */
export class DynamicTable {
  readonly #names: string[] = Array.from({ length: RING }, () => '')
  readonly #values: string[] = Array.from({ length: RING }, () => '')
  readonly #onEvicted: ((name: string, value: string, serial: number) => void) | undefined
  #bytes = 0
  #maxBytes = DEFAULT_TABLE_BYTES
  /** Of all entries ever added. */
  #added = 0
  #size = 0

  constructor(onEvicted?: (name: string, value: string, serial: number) => void) {
    this.#onEvicted = onEvicted
  }

  get size(): number {
    return this.#size
  }

  get bytes(): number {
    return this.#bytes
  }

  get maxBytes(): number {
    return this.#maxBytes
  }

  set maxBytes(bytes: number) {
    this.#maxBytes = bytes
    this.#evict(bytes)
  }

  /** The newest is 0. */
  nameAt(index: number): string {
    return this.#names[(this.#added - 1 - index) & (RING - 1)]!
  }

  valueAt(index: number): string {
    return this.#values[(this.#added - 1 - index) & (RING - 1)]!
  }

  /** The entry's serial number; what is larger than the table only empties it. */
  add(name: string, value: string): number | undefined {
    const bytes = name.length + value.length + ENTRY_OVERHEAD_BYTES
    this.#evict(Math.max(0, this.#maxBytes - bytes))
    if (bytes > this.#maxBytes) return undefined
    const slot = this.#added & (RING - 1)
    this.#names[slot] = name
    this.#values[slot] = value
    this.#bytes += bytes
    this.#size++
    return this.#added++
  }

  /** Where an entry is now. */
  indexOf(serial: number): number {
    return this.#added - 1 - serial
  }

  #evict(toBytes: number): void {
    while (this.#bytes > toBytes) {
      const serial = this.#added - this.#size
      const slot = serial & (RING - 1)
      const name = this.#names[slot]!
      const value = this.#values[slot]!
      this.#names[slot] = ''
      this.#values[slot] = ''
      this.#bytes -= name.length + value.length + ENTRY_OVERHEAD_BYTES
      this.#size--
      this.#onEvicted?.(name, value, serial)
    }
  }
}
