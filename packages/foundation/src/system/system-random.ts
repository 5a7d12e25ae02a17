import type { RandomSource } from '../random.ts'

const POOL_WORDS = 1024

/**
 * The machine's cryptographic randomness, drawn from a pool so that a draw costs no system call. node:crypto takes 5 ms and
 * 4 MB to load: it is fetched by the first draw, so that importing a library does not pay for it.
 */
export class SystemRandom implements RandomSource {
  readonly #pool = new Uint32Array(POOL_WORDS)
  #used = POOL_WORDS

  next(): number {
    if (this.#used === POOL_WORDS) {
      process.getBuiltinModule('node:crypto').randomFillSync(this.#pool)
      this.#used = 0
    }
    return this.#pool[this.#used++]! / 0x1_0000_0000
  }

  fork(_name: string): RandomSource {
    return this
  }
}
