/**
 * The number that a Service port has in a pod.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Sync 7.
 */
import type { Container, Pod, ServicePort } from '@gyropilot/api'

/**
 * A number as it is; a name among the ports of containers, then of init containers that keep
 * running. Undefined: no such port.
 */
export function resolveTargetPort(pod: Pod, servicePort: ServicePort): number | undefined {
  const { targetPort = servicePort.port, protocol = 'TCP' } = servicePort
  if (typeof targetPort === 'number') return targetPort
  const sidecars = (pod.spec?.initContainers ?? []).filter(
    ({ restartPolicy }) => restartPolicy === 'Always',
  )
  return (
    portNamed(pod.spec?.containers ?? [], targetPort, protocol) ??
    portNamed(sidecars, targetPort, protocol)
  )
}

function portNamed(
  containers: readonly Container[],
  name: string,
  protocol: string,
): number | undefined {
  for (const { ports } of containers) {
    for (const port of ports ?? []) {
      if (port.name === name && (port.protocol ?? 'TCP') === protocol) return port.containerPort
    }
  }
  return undefined
}
