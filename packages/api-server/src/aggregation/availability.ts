/** Whether what an APIService names can answer. Contract: docs/behaviour/api-server/requests.md, "APIServices". */
import type { Stored } from '@gyropilot/schema/objects'

export interface Unavailability {
  readonly reason: string
  readonly message: string
}

/** `slices`: the EndpointSlices of the service. Why the service cannot be asked; undefined: somebody is there. */
export function unavailability(
  { spec }: Stored,
  service: Stored | undefined,
  slices: readonly Stored[],
): Unavailability | undefined {
  const { name, namespace, port = 443 } = spec.service
  const where = `${name} in ${JSON.stringify(namespace)}`
  if (service === undefined)
    return {
      reason: 'ServiceNotFound',
      message: `service/${name} in "${namespace}" is not present`,
    }
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
  }
  return undefined
}

/** `service`: that it names. */
export function failedCheck(
  { spec }: Stored,
  service: Stored,
  { why, unresolved = false }: FailedCheck,
): Unavailability {
  const reason = 'FailedDiscoveryCheck'
  if (unresolved) return { reason, message: String(why) }
  const { group, version } = spec
  const { name, port = 443 } = spec.service
  const { type = 'ClusterIP', externalName, clusterIP } = service['spec']
  const host = type === 'ExternalName' ? externalName : (clusterIP ?? name)
  const url = `https://${host}:${port}/apis/${group}/${version}`
  const told =
    typeof why === 'number'
      ? `bad status from ${url}: ${why}`
      : `Get ${JSON.stringify(url)}: ${why}`
  return {
    reason,
    message: `failing or missing response from ${url}: ${told}`,
  }
}

/** What came of asking for the list of its resources. */
interface FailedCheck {
  /** A status that is none of success, or why there is no answer. */
  readonly why: number | string
  /** Nobody was asked: where to is not known. */
  readonly unresolved?: boolean
}

/** Lists without entries are stored as null. */
function hasAddress({ endpoints, ports }: Stored, portName: string): boolean {
  const isReady = ({ conditions, addresses }: Stored): boolean =>
    conditions?.ready !== false && (addresses ?? []).length > 0
  const isNamed = ({ name }: Stored): boolean => (name ?? '') === portName
  return (ports ?? []).some(isNamed) && (endpoints ?? []).some(isReady)
}

export function availableOf({ status }: Stored): Stored | undefined {
  return (status?.conditions ?? []).find(({ type }: Stored) => type === 'Available')
}

export function isAvailable(apiService: Stored | undefined): boolean {
  return apiService !== undefined && availableOf(apiService)?.['status'] === 'True'
}
