/** Why no node fits, as kube-scheduler words it. Contract: docs/behaviour/simulation/scheduler.md, Failure. Pure. */
export interface NodeVerdict {
  readonly node: string
  readonly reasons: readonly string[]
  /** Taking pods away could help. */
  readonly curable: boolean
}

/** What preemption came to: pods make room, it was not tried, or no node would have helped. */
export type PreemptionOutcome =
  | { readonly kind: 'victims' }
  | { readonly kind: 'not eligible'; readonly text: string }
  /** One reason for each node. */
  | { readonly kind: 'none'; readonly reasons: readonly string[] }

export const NO_VICTIMS = 'No preemption victims found for incoming pod'
/** What the plugin for device claims says, which is asked before preemption. */
export const NO_CLAIMS = 'no new claims to deallocate'
export const CLAIMS_STAY = 'still not schedulable'
export const CLAIM_GIVEN_BACK = 'deallocation of ResourceClaim completed'
export const CLAIM_DELETED = 'deletion of ResourceClaim completed'
export const NOT_HELPFUL = 'Preemption is not helpful for scheduling'

export function unschedulableMessage(
  verdicts: readonly NodeVerdict[],
  preemption: PreemptionOutcome,
  claims: string = NO_CLAIMS,
): string {
  if (verdicts.length === 0) return 'no nodes available to schedule pods'
  const available = `0/${verdicts.length} nodes are available`
  const message = `${available}: ${counted(verdicts.flatMap((verdict) => verdict.reasons))}.`
  switch (preemption.kind) {
    case 'victims':
      return message
    case 'not eligible':
      return `${message} ${claims}, preemption: ${preemption.text}`
    case 'none':
      return `${message} ${claims}, preemption: ${available}: ${counted(preemption.reasons)}.`
  }
}

/** Of a pod that no node can take, whatever its own state. */
export function preFilterMessage(problem: string, nodes: number): string {
  const available = `0/${nodes} nodes are available`
  // What the plugin for device claims says of a pod that no plugin has looked at in full.
  return `${available}: ${problem}. not found`
}

/** Of a pod that no node can take because of the devices it asks for. */
export function deviceProblemMessage(problem: string, nodes: number): string {
  const available = `0/${nodes} nodes are available`
  return `${available}: ${problem}. ${NO_CLAIMS}, preemption: ${available}: ${nodes} ${NOT_HELPFUL}.`
}

/** `1 a, 10 b, 2 c`: each reason with its count, sorted as text. */
function counted(reasons: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .toSorted()
    .join(', ')
}
