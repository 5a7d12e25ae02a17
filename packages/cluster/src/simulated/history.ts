/** Everything that happened in a simulated cluster, as a hash: commits with their contents, requests with their answers, faults. */
import { createHash } from 'node:crypto'
import type { StoreEvent } from '@gyropilot/api-server'
import { RingBuffer } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { stringifyExact } from '@gyropilot/foundation/exact-json'

const RECENT_LINES = 400

export class History {
  readonly #clock: Clock
  readonly #hash = createHash('sha256')
  readonly #all: string[] | undefined
  readonly #recent = new RingBuffer<string>(RECENT_LINES)
  readonly #texts = new WeakMap<object, string>()
  #pending = ''

  /** `keep`: all lines stay, for finding where two histories part. */
  constructor(clock: Clock, keep = false) {
    this.#clock = clock
    this.#all = keep ? [] : undefined
  }

  committed(event: StoreEvent): void {
    const { type, collection, key, revision, object } = event
    const content = collection === 'secrets' ? withoutSecrets(object) : object
    this.line(`commit ${revision} ${type} ${collection} ${key}`, this.#textOf(content))
  }

  /** `detail` goes into the hash and not into what people read. */
  line(text: string, detail = ''): void {
    const line = `${this.#clock.monotonicMs().toFixed(3)} ${text}`
    this.#pending += `${line} ${detail}\n`
    if (this.#pending.length > 65_536) this.#flush()
    this.#all?.push(detail === '' ? line : `${line} ${detail}`)
    this.#recent.push(line)
  }

  get hash(): string {
    this.#flush()
    return this.#hash.copy().digest('hex')
  }

  /** All lines when they are kept, else the last ones. */
  get lines(): readonly string[] {
    return this.#all ?? this.#recent.toArray()
  }

  /** JSON, of which `spec` and field sets are the larger part: states of an object share them, so their text is kept. */
  #textOf(content: Record<string, unknown>): string {
    const { spec, metadata, ...rest } = content
    const { managedFields = [], ...named } = metadata as StoreEvent['object']['metadata'] & object
    let text = stringifyExact({ ...rest, metadata: named })
    for (const { fieldsV1, ...owner } of managedFields)
      text += stringifyExact(owner) + this.#kept(fieldsV1)
    return text + this.#kept(spec)
  }

  #kept(part: unknown): string {
    if (typeof part !== 'object' || part === null) return ''
    let text = this.#texts.get(part)
    if (text === undefined) {
      text = stringifyExact(part)
      this.#texts.set(part, text)
    }
    return text
  }

  #flush(): void {
    if (this.#pending !== '') this.#hash.update(this.#pending)
    this.#pending = ''
  }
}

/** Keys of a cluster come from the system's generator: what is signed with them differs from run to run, its names do not. */
function withoutSecrets(object: StoreEvent['object']): StoreEvent['object'] {
  return { ...object, data: Object.keys(object['data'] ?? {}) }
}
