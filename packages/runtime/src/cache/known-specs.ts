import type { KubernetesObject, ObjectMeta } from '@gyropilot/api'

/** Enough for the sets that grow at one time. */
const MOST_SPECS = 256
const LONGEST_TEXT = 8_192
const SPEC = '"spec":'
const STATUS = ',"status":{'

/** The text by which the spec of the object with that metadata is known: of equal texts specs are kept as one. Undefined: it is like no other. */
export type SpecTextOf = (metadata: ObjectMeta, text: string) => string | undefined

interface WithSpec extends KubernetesObject {
  spec?: object
}

/**
 * Specs by their text. Pods of one set have one spec, and to decode it, to trim it and to look for its parts among those of other pods
 * is most of what an event of a pod costs. What was met last is known, in the form in which it is kept.
 */
export class KnownSpecs {
  readonly #textOf: SpecTextOf
  readonly #byText = new Map<string, object>()
  readonly #kept = new Set<object>()
  /** Decoded, and not kept yet: what comes in one piece is decoded before the first of it is taken in. */
  readonly #decoded = new Map<string, object>()
  readonly #textsOf = new Map<KubernetesObject, string>()

  constructor(textOf: SpecTextOf) {
    this.#textOf = textOf
  }

  /** See LeanDecoding. Each part is decoded by itself, and so balanced: `status` stands beside the spec, not in it. */
  complete(object: WithSpec, rest: string): boolean {
    if (!rest.startsWith(SPEC)) return false
    const at = rest.indexOf(STATUS)
    const specText = rest.slice(SPEC.length, at === -1 ? rest.length : at)
    if (specText.length > LONGEST_TEXT) return false
    const text = this.#textOf(object.metadata ?? {}, specText)
    if (text === undefined) return false
    const known = this.#byText.get(text)
    const spec = known ?? this.#decoded.get(text) ?? (JSON.parse(specText) as object)
    const others = at === -1 ? {} : JSON.parse(`{${rest.slice(at + 1)}}`)
    if (Object.keys(others).some((key) => key !== 'status')) return false
    object.spec = spec
    Object.assign(object, others)
    if (known === undefined) {
      this.#decoded.set(text, spec)
      this.#textsOf.set(object, text)
    }
    return true
  }

  /** Before it is trimmed: whether its spec is as it is kept; that of another that came with it is taken for it. */
  settle(object: WithSpec): boolean {
    const text = this.#textsOf.get(object)
    const known = text === undefined ? undefined : this.#byText.get(text)
    if (known !== undefined) object.spec = known
    return object.spec !== undefined && this.#kept.has(object.spec)
  }

  /** The object is as it will be kept. */
  learn(object: WithSpec): void {
    const text = this.#textsOf.get(object)
    if (text === undefined) return
    // What was decoded before it and is not here yet has gone with its watch.
    for (const [earlier, itsText] of this.#textsOf) {
      this.#textsOf.delete(earlier)
      this.#decoded.delete(itsText)
      if (earlier === object) break
    }
    if (object.spec === undefined || this.#byText.has(text)) return
    for (const [oldest, spec] of this.#byText) {
      if (this.#byText.size < MOST_SPECS) break
      this.#byText.delete(oldest)
      this.#kept.delete(spec)
    }
    this.#byText.set(text, object.spec)
    this.#kept.add(object.spec)
  }
}
