/** Randomness, handed in. Forks are independent named streams: one more draw in one of them changes nothing in another. */
export interface RandomSource {
  /** Uniform in [0, 1). */
  next(): number
  /** The stream named `label` under this one. The same seed and path of labels give the same stream. */
  fork(label: string): RandomSource
}

/** xoshiro128** seeded by a hash of the seed text; not for secrets. */
export class SeededRandom implements RandomSource {
  readonly #path: string
  readonly #state: Uint32Array

  constructor(seed: string | number) {
    this.#path = String(seed)
    this.#state = expandSeed(this.#path)
  }

  next(): number {
    const s = this.#state
    const result = Math.imul(rotateLeft(Math.imul(s[1]!, 5), 7), 9) >>> 0
    const shifted = s[1]! << 9
    s[2]! ^= s[0]!
    s[3]! ^= s[1]!
    s[1]! ^= s[2]!
    s[0]! ^= s[3]!
    s[2]! ^= shifted
    s[3] = rotateLeft(s[3]!, 11)
    return result / 0x1_0000_0000
  }

  fork(label: string): RandomSource {
    return new SeededRandom(`${this.#path}/${label}`)
  }
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

/** Four words from the text by splitmix32 over its FNV-1a hash. */
function expandSeed(text: string): Uint32Array {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  const state = new Uint32Array(4)
  for (let i = 0; i < 4; i++) {
    hash = (hash + 0x9e3779b9) | 0
    let mixed = hash ^ (hash >>> 16)
    mixed = Math.imul(mixed, 0x21f0aaad)
    mixed ^= mixed >>> 15
    mixed = Math.imul(mixed, 0x735a2d97)
    state[i] = mixed ^ (mixed >>> 15)
  }
  return state
}

/** An integer in [minimum, limit). */
export function integerBetween(random: RandomSource, minimum: number, limit: number): number {
  return minimum + Math.floor(random.next() * (limit - minimum))
}

const DIGITS = '0123456789abcdef'
const HYPHEN = '-'.charCodeAt(0)
/** Before which of the 32 digits of a UUID a hyphen stands. */
const HYPHENS: ReadonlySet<number> = new Set([8, 12, 16, 20])

/** A version 4 UUID. */
export function uuid(random: RandomSource): string {
  const digits = hexDigits(random, 32)
  // Made at once: a text put together from parts would keep them as long as it lives, and every object has one.
  const codes: number[] = []
  for (let i = 0; i < digits.length; i++) {
    if (HYPHENS.has(i)) codes.push(HYPHEN)
    let digit = digits.charCodeAt(i)
    if (i === 12) digit = DIGITS.charCodeAt(4)
    // Two bits of it say the variant.
    if (i === 16) digit = DIGITS.charCodeAt(8 | (DIGITS.indexOf(digits[i]!) & 3))
    codes.push(digit)
  }
  return String.fromCharCode(...codes)
}

/** `count` lower-case hexadecimal digits. */
export function hexDigits(random: RandomSource, count: number): string {
  const codes: number[] = []
  while (codes.length < count) {
    const seven = integerBetween(random, 0, 2 ** 28)
    for (let shift = 24; shift >= 0 && codes.length < count; shift -= 4)
      codes.push(DIGITS.charCodeAt((seven >> shift) & 15))
  }
  return String.fromCharCode(...codes)
}

/** `duration * (1 + rand[0, factor))`, the jitter of Kubernetes' wait package. */
export function jitter(random: RandomSource, durationMs: number, factor: number): number {
  return durationMs * (1 + random.next() * factor)
}
