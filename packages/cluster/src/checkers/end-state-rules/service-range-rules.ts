/** What ranges of Service addresses must have come to. Written from the page of service-cidr-controller. */
import type { Cidr, ServiceCIDR } from '@gyropilot/api'
import { cidrContains, findCondition, parseCidr, parseIp, resources } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

const FINALIZER = 'networking.k8s.io/service-cidr-finalizer'

/** One that is deleted goes, unless it alone has an address that is in use; each other one is ready. */
export function* serviceRanges(objects: Objects): Iterable<string> {
  for (const range of objects.all(resources.servicecidrs)) {
    const { name, deletionTimestamp, finalizers = [] } = range.metadata ?? {}
    const { status, reason } = findCondition(range.status?.conditions, 'Ready') ?? {}
    if (deletionTimestamp === undefined) {
      if (status !== 'True') yield `ServiceCIDR ${name} is not ready: ${status} ${reason}`
      if (!finalizers.includes(FINALIZER)) yield `ServiceCIDR ${name} is not kept by its finalizer`
    } else if (!isNeeded(range, objects))
      yield `ServiceCIDR ${name} is needed by no address and does not go`
    else if (status !== 'False' || reason !== 'Terminating')
      yield `ServiceCIDR ${name} waits for its addresses and says ${status} ${reason}`
  }
}

/** Has an address that no other range has. */
export function isNeeded(range: ServiceCIDR, objects: Objects): boolean {
  const others = objects
    .all(resources.servicecidrs)
    .filter(({ metadata }) => metadata?.uid !== range.metadata?.uid)
  return objects.all(resources.ipaddresses).some(({ metadata }) => {
    const address = metadata?.name ?? ''
    return isIn(range, address) && !others.some((other) => isIn(other, address))
  })
}

function isIn({ spec }: ServiceCIDR, address: string): boolean {
  const ip = parseIp(address)
  const cidrs: readonly Cidr[] = (spec?.cidrs ?? []).flatMap((text) => parseCidr(text) ?? [])
  return ip !== undefined && cidrs.some((cidr) => cidrContains(cidr, ip))
}
