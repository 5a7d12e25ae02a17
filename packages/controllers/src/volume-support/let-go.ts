import { isPodFinished, isTerminating } from '@gyropilot/api'
import type { ContainerStatus, Pod } from '@gyropilot/api'

/** It uses no volume any more, though it may be there for long: what waits or has ended does not run. */
export function hasLetGo(pod: Pod): boolean {
  if (isPodFinished(pod)) return true
  if (!isTerminating(pod)) return false
  const { initContainerStatuses, containerStatuses, ephemeralContainerStatuses } = pod.status ?? {}
  return [initContainerStatuses, containerStatuses, ephemeralContainerStatuses]
    .flatMap((statuses): readonly ContainerStatus[] => statuses ?? [])
    .every(({ state }) => state?.waiting !== undefined || state?.terminated !== undefined)
}
