/**
 * The addresses that a Service's pods are.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Sync 4 to 9.
 */
import { isPodReady } from '@gyropilot/api'
import type { EndpointAddress, EndpointPort, EndpointSubset, Pod, Service } from '@gyropilot/api'
import { declaredFamilies, isHeadless, parseIpAddress } from '../endpoint-support/ip-address.ts'
import type { IpFamily } from '../endpoint-support/ip-address.ts'
import {
  endpointHostname,
  hasEndpoint,
  podAddresses,
  podReference,
} from '../endpoint-support/pod-endpoint.ts'
import { repackSubsets } from '../endpoint-support/repack-subsets.ts'
import { resolveTargetPort } from '../endpoint-support/target-port.ts'

export function desiredSubsets(service: Service, pods: readonly Pod[]): readonly EndpointSubset[] {
  return repackSubsets(subsetsOfPods(service, pods))
}

function* subsetsOfPods(service: Service, pods: readonly Pod[]): Iterable<EndpointSubset> {
  const { publishNotReadyAddresses = false, ports = [] } = service.spec ?? {}
  const [family] = declaredFamilies(service)
  for (const pod of pods) {
    // 4.
    if (!hasEndpoint(pod)) continue
    if (pod.metadata?.deletionTimestamp && !publishNotReadyAddresses) continue
    // 5.
    const address = addressOf(service, pod, family)
    if (address === undefined) continue
    // 6. A headless Service is a list of names: it needs no ports.
    const podPorts = endpointPorts(service, pod)
    if (podPorts.length === 0 && (ports.length > 0 || !isHeadless(service))) continue
    // 8.
    yield publishNotReadyAddresses || isPodReady(pod)
      ? { addresses: [address], ports: podPorts }
      : { notReadyAddresses: [address], ports: podPorts }
  }
}

/** Undefined: the pod has no address of the family. Without a family, of that of its own first one. */
function addressOf(
  service: Service,
  pod: Pod,
  declared: IpFamily | undefined,
): EndpointAddress | undefined {
  const family = declared ?? parseIpAddress(pod.status?.podIP ?? '')?.family
  const ip = family === undefined ? undefined : podAddresses(pod, family)[0]
  if (ip === undefined) return undefined
  const nodeName = pod.spec?.nodeName
  const hostname = endpointHostname(pod, service)
  return {
    ip,
    ...(nodeName ? { nodeName } : {}),
    ...(hostname === undefined ? {} : { hostname }),
    targetRef: podReference(pod),
  }
}

/** 7. Ports that the pod does not have are left out. */
function endpointPorts({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  const ports: EndpointPort[] = []
  for (const servicePort of spec?.ports ?? []) {
    const port = resolveTargetPort(pod, servicePort)
    if (port === undefined) continue
    const { name, protocol = 'TCP', appProtocol } = servicePort
    ports.push({
      ...(name ? { name } : {}),
      port,
      protocol,
      ...(appProtocol === undefined ? {} : { appProtocol }),
    })
  }
  return ports
}
