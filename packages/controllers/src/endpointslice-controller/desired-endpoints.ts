/**
 * The endpoints that a Service's pods are, by the ports they have.
 * Contract: docs/behaviour/controllers/endpointslice-controller.md, Sync A.
 */
import { isPodReady } from '@gyropilot/api'
import type { Endpoint, Node, Pod, Service } from '@gyropilot/api'
import type { IpFamily } from '../endpoint-support/ip-address.ts'
import {
  endpointHostname,
  hasEndpoint,
  podAddresses,
  podReference,
} from '../endpoint-support/pod-endpoint.ts'
import { inSliceOrder } from '../endpoint-support/port-order.ts'
import { portsKey } from '../endpoint-support/slice-ports.ts'
import type { SlicePort } from '../endpoint-support/slice-ports.ts'
import { resolveTargetPort } from '../endpoint-support/target-port.ts'
import { EndpointSet } from '../endpoint-support/endpoint-set.ts'

export const ZONE_LABEL = 'topology.kubernetes.io/zone'

/** Endpoints that may share slices. */
export interface PortGroup {
  readonly ports: readonly SlicePort[]
  readonly endpoints: EndpointSet
}

interface DesiredEndpoints {
  /** By `portsKey`. A group may be empty: its pods have no address of the family. */
  readonly groups: ReadonlyMap<string, PortGroup>
  /** One per pod that had to be left out. */
  readonly errors: readonly Error[]
}

export function desiredEndpoints(
  service: Service,
  pods: readonly Pod[],
  nodeNamed: (name: string) => Node | undefined,
  family: IpFamily,
): DesiredEndpoints {
  const groups = new Map<string, PortGroup>()
  const errors: Error[] = []
  const { namespace, name } = service.metadata ?? {}
  const portsOf = podPortsOf(service)
  for (const pod of pods) {
    if (!hasEndpoint(pod)) continue
    const { ports, key } = portsOf(pod)
    let group = groups.get(key)
    if (group === undefined)
      groups.set(key, (group = { ports: inSliceOrder(ports), endpoints: new EndpointSet() }))
    const nodeName = pod.spec?.nodeName ?? ''
    const node = nodeNamed(nodeName)
    // The pod of a lost node must neither block the others nor be forgotten: they are written, and the Service is retried.
    if (node === undefined && !service.spec?.publishNotReadyAddresses) {
      const text = `skipping Pod ${pod.metadata?.name} for Service ${namespace}/${name}: Node ${nodeName} Not Found`
      errors.push(new Error(text))
      continue
    }
    const endpoint = endpointOf(service, pod, node, family)
    if (endpoint.addresses.length > 0) group.endpoints.add(endpoint)
  }
  return { groups, errors }
}

interface PodPorts {
  readonly ports: readonly SlicePort[]
  readonly key: string
}

/** Only a port that is asked for by name may differ from pod to pod. */
function podPortsOf(service: Service): (pod: Pod) => PodPorts {
  const portsOf = (pod: Pod): PodPorts => {
    const ports = endpointPorts(service, pod)
    return { ports, key: portsKey(ports) }
  }
  const isNamed = (service.spec?.ports ?? []).some(
    ({ targetPort }) => typeof targetPort === 'string',
  )
  if (isNamed) return portsOf
  let same: PodPorts | undefined
  return (pod) => (same ??= portsOf(pod))
}

/** Ports that the pod does not have are left out. */
function endpointPorts({ spec }: Service, pod: Pod): readonly SlicePort[] {
  const ports: SlicePort[] = []
  for (const servicePort of spec?.ports ?? []) {
    const port = resolveTargetPort(pod, servicePort)
    if (port === undefined) continue
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    ports.push({ name, protocol, port, ...(appProtocol === undefined ? {} : { appProtocol }) })
  }
  return ports
}

function endpointOf(
  service: Service,
  pod: Pod,
  node: Node | undefined,
  family: IpFamily,
): Endpoint {
  const addresses = podAddresses(pod, family)
  const serving = isPodReady(pod)
  const terminating = Boolean(pod.metadata?.deletionTimestamp)
  // Consumers older than `serving` and `terminating` know only `ready`: a pod on its way out must not look ready to them.
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating)
  const nodeName = pod.spec?.nodeName
  const zone = node?.metadata?.labels?.[ZONE_LABEL]
  const hostname = endpointHostname(pod, service)
  return {
    addresses,
    conditions: { ready, serving, terminating },
    targetRef: podReference(pod),
    ...(nodeName ? { nodeName } : {}),
    ...(zone ? { zone } : {}),
    ...(hostname === undefined ? {} : { hostname }),
  }
}
