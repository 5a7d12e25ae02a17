/** Which of a node's programs would go first without memory, as a kubelet tells the system. Pure. */
import { amountOf } from '@gyropilot/api'
import type { Container, Pod } from '@gyropilot/api'

const LAST = -997
const FIRST = 1_000
const NODE_CRITICAL = 2_000_001_000

/** What is in /proc/1/oom_score_adj of a container that begins. */
export function oomScoreOf({ spec, status }: Pod, container: Container, nodeBytes: number): number {
  if ((spec?.priority ?? 0) >= NODE_CRITICAL || status?.qosClass === 'Guaranteed') return LAST
  if (status?.qosClass === 'BestEffort') return FIRST
  const own = scoreOf(container, nodeBytes)
  if (container.restartPolicy !== 'Always') return own
  // A sidecar does not go before what it stands beside.
  return Math.min(own, ...(spec?.containers ?? []).map((main) => scoreOf(main, nodeBytes)))
}

/** The more it asks for, the later; between what is guaranteed and what nothing was promised. */
function scoreOf({ resources }: Container, nodeBytes: number): number {
  const bytes = amountOf('memory', resources?.requests?.['memory'] ?? '0')
  const score = FIRST - Math.floor((FIRST * bytes) / nodeBytes)
  return Math.min(FIRST - 1, Math.max(FIRST + LAST, score))
}
