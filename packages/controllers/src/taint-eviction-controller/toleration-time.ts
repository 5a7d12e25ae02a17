/**
 * How long a pod may stay with the taints of its node. Pure.
 * Contract: docs/behaviour/controllers/taint-eviction-controller.md, Evaluate.
 */
import { tolerates } from '@gyropilot/api'
import type { Node, Taint, Toleration, TolerationOptions } from '@gyropilot/api'

const NO_TAINTS: readonly Taint[] = []

/** Its NoExecute taints; the others evict nobody. */
export function noExecuteTaints(node: Node | undefined): readonly Taint[] {
  const taints = node?.spec?.taints ?? NO_TAINTS
  return taints.length === 0 ? taints : taints.filter(({ effect }) => effect === 'NoExecute')
}

/** In seconds from now; `Infinity`: for ever. Undefined: some taint is not tolerated, the pod must go at once. */
export function stayingTimeSeconds(
  taints: readonly Taint[],
  tolerations: readonly Toleration[] = [],
  options: TolerationOptions = {},
): number | undefined {
  const used: Toleration[] = []
  for (const taint of taints) {
    // The first in the order of the list counts for a taint, not the longest.
    const first = tolerations.find((toleration) => tolerates(toleration, taint, options))
    if (first === undefined) return undefined
    used.push(first)
  }
  return shortestSeconds(used)
}

/** 292 years. What is longer is no time that nanoseconds in 64 bits could hold. */
const LONGEST_SECONDS = Number((2n ** 63n - 1n) / 1_000_000_000n)

/** The least of what these allow; those without a time allow any, and a time beyond all counting is none. None at all: 0. */
export function shortestSeconds(tolerations: readonly Toleration[]): number {
  if (tolerations.length === 0) return 0
  let shortest = Infinity
  for (const { tolerationSeconds } of tolerations)
    if (tolerationSeconds !== undefined)
      shortest = Math.min(shortest, Math.max(0, Number(tolerationSeconds)))
  return shortest > LONGEST_SECONDS ? Infinity : shortest
}
