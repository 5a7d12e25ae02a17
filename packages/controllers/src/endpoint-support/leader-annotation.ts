/** Endpoints that old leader elections keep their lock in are nobody's endpoints. */
import type { Endpoints } from '@gyropilot/api'

const LEADER_ANNOTATION = 'control-plane.alpha.kubernetes.io/leader'

export function isLeaderLock({ metadata }: Endpoints): boolean {
  return metadata?.annotations?.[LEADER_ANNOTATION] !== undefined
}
