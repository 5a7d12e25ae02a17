/**
 * What kube-proxy answers a load balancer that asks a node whether a Service with `externalTrafficPolicy: Local` has an
 * endpoint there. Contract: docs/behaviour/simulation/kubelet.md, Network. Pure.
 */
import type { EndpointSlice, Service } from '@gyropilot/api'
import { localEndpointCount } from './service-routes.ts'

/** HTTP, whole; by any path and method. */
export function healthCheckAnswer(
  { metadata }: Service,
  slices: readonly EndpointSlice[],
  nodeName: string,
): Uint8Array {
  const localEndpoints = localEndpointCount(slices, nodeName)
  const service = { namespace: metadata?.namespace, name: metadata?.name }
  const body = `${JSON.stringify({ service, localEndpoints, serviceProxyHealthy: true }, null, '\t')}\n`
  const head = [
    localEndpoints > 0 ? 'HTTP/1.1 200 OK' : 'HTTP/1.1 503 Service Unavailable',
    'Content-Type: application/json',
    'X-Content-Type-Options: nosniff',
    `X-Load-Balancing-Endpoint-Weight: ${localEndpoints}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
}
