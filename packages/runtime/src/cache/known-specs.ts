import type { KubernetesObject, ObjectMeta } from '@gyropilot/api'
import type { LeanDecoding } from '@gyropilot/client'
import { parseExact } from '@gyropilot/foundation/exact-json'

/** Enough for the sets that grow at one time. */
const MOST_SPECS = 256
const LONGEST_TEXT = 8_192
const SPEC = '"spec":'
const STATUS = ',"status":{'

/** How a spec is known to be as another. */
export interface SpecText {
  /** Of equal texts the specs are kept as equal ones, but for `own`. */
  readonly text: string
  /** Fields of the spec whose values the text says nothing of. They hold nothing of what was written. */
  readonly own?: Readonly<Record<string, unknown>>
}

/** Of the spec of the object with that metadata, by how it is written; undefined: it is like no other. */
export type SpecTextOf = (metadata: ObjectMeta, written: string) => SpecText | undefined

interface WithSpec extends KubernetesObject {
  spec?: object
}

/**
 * Specs by their text. Pods of one set have one spec but for their node, and to decode it, to trim it and to look for its parts among
 * those of other pods is most of what an event of a pod costs. What was met last is known, in the form in which it is kept.
 */
export class KnownSpecs implements LeanDecoding {
  readonly #textOf: SpecTextOf
  readonly #share: (value: unknown) => unknown
  readonly #kept = new Map<string, object>()
  /** Decoded, and not kept yet: what comes in one piece is decoded before the first of it is taken in. */
  readonly #decoded = new Map<string, object>()
  /** In the order in which they were decoded and are taken in; undefined: its spec is as it is kept. */
  readonly #waiting = new Map<KubernetesObject, SpecText | undefined>()

  /** `share` answers the value that stands for all that equal one. */
  constructor(textOf: SpecTextOf, share: (value: unknown) => unknown) {
    this.#textOf = textOf
    this.#share = share
  }

  /** See LeanDecoding. Each part is decoded by itself, and so balanced: `status` stands beside the spec, not in it. */
  complete(object: WithSpec, rest: string): boolean {
    if (!rest.startsWith(SPEC)) return false
    const at = rest.indexOf(STATUS)
    const written = rest.slice(SPEC.length, at === -1 ? rest.length : at)
    if (written.length > LONGEST_TEXT) return false
    const specText = this.#textOf(object.metadata ?? {}, written)
    if (specText === undefined) return false
    const { text } = specText
    const kept = this.#kept.get(text)
    let spec = kept ?? this.#decoded.get(text)
    const isNew = spec === undefined
    spec = spec === undefined ? (parseExact(written) as object) : this.#withOwn(spec, specText)
    const others = at === -1 ? {} : (parseExact(`{${rest.slice(at + 1)}}`) as object)
    if (Object.keys(others).some((key) => key !== 'status')) return false
    if (isNew) this.#decoded.set(text, spec)
    this.#waiting.set(object, kept === undefined ? specText : undefined)
    object.spec = spec
    Object.assign(object, others)
    return true
  }

  /**
   * Has the object made into what is kept: `keep` trims it and shares its parts, but for a spec that is as it is kept already, which it
   * may have become by another that came with it.
   */
  takeIn(object: WithSpec, keep: (isSpecKept: boolean) => void): void {
    if (!this.#waiting.has(object)) return keep(false)
    const specText = this.#waiting.get(object)
    this.passOver(object)
    if (specText === undefined) return keep(true)
    const kept = this.#kept.get(specText.text)
    if (kept !== undefined) {
      object.spec = this.#withOwn(kept, specText)
      return keep(true)
    }
    keep(false)
    if (object.spec !== undefined) this.#learn(specText.text, object.spec)
  }

  /** It is not kept, as nothing of it is new. What was decoded before it and is not here yet has gone with its watch. */
  passOver(object: WithSpec): void {
    if (!this.#waiting.has(object)) return
    for (const [earlier, its] of this.#waiting) {
      this.#waiting.delete(earlier)
      if (its !== undefined) this.#decoded.delete(its.text)
      if (earlier === object) break
    }
  }

  #learn(text: string, spec: object): void {
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size < MOST_SPECS) break
      this.#kept.delete(oldest)
    }
    this.#kept.set(text, spec)
  }

  #withOwn(spec: object, { own }: SpecText): object {
    if (own === undefined) return spec
    const all: Record<string, unknown> = { ...spec }
    for (const key in own) all[key] = this.#share(own[key])
    return all
  }
}
