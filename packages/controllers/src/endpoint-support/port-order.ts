/**
 * The order of ports in Endpoints and EndpointSlices: by the FNV-1a hash of 128 bits of how upstream prints a port. People see
 * it (`kubectl get endpoints`), and so it is upstream's.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Sync 9.
 */
import { fnv1a128 } from '@gyropilot/api'
import type { EndpointPort } from '@gyropilot/api'
import type { SlicePort } from './slice-ports.ts'

function inHashOrder<T>(ports: readonly T[], print: (port: T) => string): readonly T[] {
  if (ports.length < 2) return ports
  return ports
    .map((port) => ({ port, hash: fnv1a128(Buffer.from(print(port))) }))
    .toSorted((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0))
    .map(({ port }) => port)
}

/** As they stand in a subset of Endpoints. */
export const inSubsetOrder = (ports: readonly EndpointPort[]): readonly EndpointPort[] =>
  inHashOrder(
    ports,
    ({ name = '', port, protocol = 'TCP', appProtocol = '<nil>' }) =>
      `(v1.EndpointPort){Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol}}`,
  )

/** As they stand in an EndpointSlice, where each of their fields may be absent and is printed as what it points to. */
export const inSliceOrder = (ports: readonly SlicePort[]): readonly SlicePort[] =>
  inHashOrder(
    ports,
    ({ name = '', protocol = 'TCP', port, appProtocol = '<nil>' }) =>
      `(v1.EndpointPort){Name:(*string)${name} Protocol:(*v1.Protocol)${protocol} Port:(*int32)${port ?? '<nil>'} AppProtocol:(*string)${appProtocol}}`,
  )
