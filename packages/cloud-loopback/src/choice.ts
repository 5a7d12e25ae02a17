/** Which of several back ends a connection goes to. */
import type { Clock } from '@gyropilot/foundation'
import type { BackEnd } from './network.ts'

/** Of session affinity; the one that was used longest ago is forgotten first. */
const MOST_CLIENTS = 10_000

interface Bond {
  readonly backEnd: string
  readonly usedMs: number
}

/** One after the other, and with session affinity the same again for a client that comes back in time. */
export class Choice {
  readonly #clock: Clock
  readonly #bonds = new Map<string, Bond>()
  #next = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** `affinityMs`: how long a client's back end is remembered after its last connection; undefined: not at all. */
  choose(
    backEnds: readonly BackEnd[],
    client: string,
    affinityMs: number | undefined,
  ): BackEnd | undefined {
    if (backEnds.length === 0) return undefined
    const chosen = affinityMs === undefined ? undefined : this.#bonded(backEnds, client, affinityMs)
    const backEnd = chosen ?? backEnds[this.#next++ % backEnds.length]!
    if (affinityMs !== undefined) this.#bond(client, backEnd)
    return backEnd
  }

  #bonded(backEnds: readonly BackEnd[], client: string, affinityMs: number): BackEnd | undefined {
    const bond = this.#bonds.get(client)
    if (bond === undefined || this.#clock.monotonicMs() - bond.usedMs > affinityMs) return undefined
    return backEnds.find((backEnd) => keyOf(backEnd) === bond.backEnd)
  }

  #bond(client: string, backEnd: BackEnd): void {
    this.#bonds.delete(client)
    this.#bonds.set(client, { backEnd: keyOf(backEnd), usedMs: this.#clock.monotonicMs() })
    if (this.#bonds.size > MOST_CLIENTS) this.#bonds.delete(this.#bonds.keys().next().value!)
  }
}

function keyOf({ ip, port }: BackEnd): string {
  return `${ip} ${port}`
}
