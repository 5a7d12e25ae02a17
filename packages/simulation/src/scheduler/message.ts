/** Why no node fits, as kube-scheduler words it. Contract: docs/behaviour/simulation/scheduler.md, Failure. Pure. */
import type { Pod } from '@gyropilot/api'

export interface NodeVerdict {
  readonly node: string
  readonly reasons: readonly string[]
  /** Taking pods away could help. */
  readonly curable: boolean
}

export function unschedulableMessage(pod: Pod, verdicts: readonly NodeVerdict[]): string {
  if (verdicts.length === 0) return 'no nodes available to schedule pods'
  const available = `0/${verdicts.length} nodes are available`
  const reasons = counted(verdicts.flatMap((verdict) => verdict.reasons))
  return `${available}: ${reasons}. preemption: ${preemptionText(pod, available, verdicts)}`
}

function preemptionText(pod: Pod, available: string, verdicts: readonly NodeVerdict[]): string {
  if (pod.spec?.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.'
  const reasons = verdicts.map(({ curable }) =>
    curable
      ? 'No preemption victims found for incoming pod'
      : 'Preemption is not helpful for scheduling',
  )
  return `${available}: ${counted(reasons)}.`
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
