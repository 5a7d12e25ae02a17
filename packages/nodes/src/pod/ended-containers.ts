/**
 * Containers that have ended for good stay ended in what a node writes. One that runs again all the same, as init containers do in a new
 * sandbox of a pod that does not restart always, is told of when it has ended once more: until then nothing of the pod is written.
 * Contract: docs/behaviour/simulation/kubelet.md, Pod status. Pure.
 */
import { mayRestartAllContainers, mayStartAgain } from '@gyropilot/api'
import type { Container, ContainerStatus, Pod, PodStatus } from '@gyropilot/api'

export function bringsBack({ spec, status }: Pod, wanted: PodStatus): boolean {
  if (mayRestartAllContainers(spec ?? {})) return false
  const revived = (
    containers: readonly Container[] = [],
    before: readonly ContainerStatus[] = [],
    now: readonly ContainerStatus[] = [],
  ): boolean =>
    before.some(({ name, state }) => {
      const container = containers.find((one) => one.name === name)
      const exitCode = state?.terminated?.exitCode
      if (container === undefined || exitCode === undefined) return false
      if (mayStartAgain(container, spec?.restartPolicy, exitCode)) return false
      return now.some((other) => other.name === name && other.state?.terminated === undefined)
    })
  return (
    revived(spec?.initContainers, status?.initContainerStatuses, wanted.initContainerStatuses) ||
    revived(spec?.containers, status?.containerStatuses, wanted.containerStatuses)
  )
}
