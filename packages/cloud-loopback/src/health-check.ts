/** What a node says under the health check port of a Service with externalTrafficPolicy Local, as kube-proxy does. Pure. */
import type { EndpointSlice } from '@gyropilot/api'
import type { HttpAnswer } from './network.ts'

export interface ServedService {
  readonly namespace: string
  readonly name: string
  /** As they are when a connection comes in. */
  slices(): readonly EndpointSlice[]
}

/** 200 when the node has a ready back end, else 503: a balancer would send nothing there. */
export function healthOf(service: ServedService, nodeName: string): HttpAnswer {
  const { namespace, name } = service
  const localEndpoints = service
    .slices()
    .filter(({ addressType }) => addressType === 'IPv4')
    .flatMap(({ endpoints = [] }) => endpoints ?? [])
    .filter(
      (endpoint) => endpoint.nodeName === nodeName && endpoint.conditions?.ready !== false,
    ).length
  return {
    status: localEndpoints > 0 ? 200 : 503,
    value: { service: { namespace, name }, localEndpoints, serviceProxyHealthy: true },
  }
}
