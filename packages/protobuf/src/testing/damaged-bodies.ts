/** For tests: bodies as clients with faults, or without good intentions, might send them. */
import { SeededRandom } from '@gyropilot/foundation'
import recorded from './recorded-bodies.json' with { type: 'json' }

export const SEED = 'protobuf bodies'
export const ROUNDS = 400

/** Recorded bodies with a few bytes changed, cut off, doubled or put in. */
export function* damagedBodies(): Generator<Buffer> {
  const random = new SeededRandom(SEED)
  const below = (limit: number) => Math.floor(random.next() * limit)
  for (let round = 0; round < ROUNDS; round++) {
    const bytes = [...Buffer.from(recorded[below(recorded.length)]!.body, 'hex')]
    for (let edits = 1 + below(4); edits > 0; edits--) {
      const at = 4 + below(bytes.length - 4)
      const kind = below(4)
      if (kind === 0) bytes[at] = below(256)
      else if (kind === 1) bytes.splice(at)
      else if (kind === 2) bytes.splice(at, 0, ...bytes.slice(at, at + below(20)))
      else bytes.splice(at, 0, below(256), 0xff, 0xff, below(256))
      if (bytes.length < 5) break
    }
    yield Buffer.from(bytes)
  }
}
