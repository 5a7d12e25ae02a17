/** Whether what an APIService names can answer. Contract: docs/behaviour/api-server/requests.md, "APIServices". */
import type { Stored } from '@gyropilot/schema/objects'

interface Availability {
  readonly reason: string
  readonly message: string
}

/** Somebody could answer, if requests were passed on. */
export const NOT_PASSED_ON = 'FailedDiscoveryCheck'

/** `slices`: the EndpointSlices of the service. Why the service cannot be asked; it never can, since requests are not passed on. */
export function unavailability(
  { spec }: Stored,
  service: Stored | undefined,
  slices: readonly Stored[],
): Availability {
  const { group, version } = spec
  const { name, namespace, port = 443 } = spec.service
  const where = `${name} in ${JSON.stringify(namespace)}`
  if (service === undefined)
    return {
      reason: 'ServiceNotFound',
      message: `service/${name} in "${namespace}" is not present`,
    }
  let host: string = service['spec'].externalName ?? name
  if ((service['spec'].type ?? 'ClusterIP') === 'ClusterIP') {
    const found = (service['spec'].ports ?? []).find((entry: Stored) => entry['port'] === port)
    if (found === undefined)
      return {
        reason: 'ServicePortError',
        message: `service/${where} is not listening on port ${port}`,
      }
    if (slices.length === 0)
      return {
        reason: 'EndpointsNotFound',
        message: `cannot find endpointslices for service/${where}`,
      }
    if (!slices.some((slice) => hasAddress(slice, found.name ?? '')))
      return {
        reason: 'MissingEndpoints',
        message: `endpointslices for service/${where} have no addresses with port name ${JSON.stringify(found.name ?? '')}`,
      }
    host = service['spec'].clusterIP ?? name
  }
  const url = `https://${host}:${port}/apis/${group}/${version}`
  return {
    reason: NOT_PASSED_ON,
    message: `failing or missing response from ${url}: Get ${JSON.stringify(url)}: requests are not passed on to other API servers`,
  }
}

/** Lists without entries are stored as null. */
function hasAddress({ endpoints, ports }: Stored, portName: string): boolean {
  const isReady = ({ conditions, addresses }: Stored): boolean =>
    conditions?.ready !== false && (addresses ?? []).length > 0
  const isNamed = ({ name }: Stored): boolean => (name ?? '') === portName
  return (ports ?? []).some(isNamed) && (endpoints ?? []).some(isReady)
}
