/**
 * What is wrong between Services and IPAddress objects, and what mends it. Each address of a Service has an IPAddress of its
 * name whose parent is the Service. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Repair".
 */
import { formatIp, parseIp } from '@gyropilot/schema/validation/ip'
import type { IpAddress } from '@gyropilot/api'
import type { Stored } from '@gyropilot/schema/objects'
import { hasAllocatorLabels, isManaged } from './ip-address-object.ts'
import { familyOf } from './ip-families.ts'
import { allocatedIps } from './service-fields.ts'

/** What an event says of a fault. */
export interface Finding {
  readonly reason: string
  readonly action: string
  readonly note: string
}

/** What there is, as the rules see it. */
export interface AllocationView {
  service(namespace: string, name: string): Stored | undefined
  address(name: string): Stored | undefined
  /** Whether any ServiceCIDR, one that is going away too, has the address. */
  isInRange(ip: IpAddress): boolean
}

interface ServiceFault {
  /** Absent: wrong labels are put right without a word. */
  readonly finding?: Finding
  /** The IPAddress of this name is to be made, or made anew, for the Service. */
  readonly remake?: string
}

type AddressVerdict =
  | { readonly kind: 'fine' }
  /** Its Service may still be on the way, or the request that took it is about to give it back. */
  | { readonly kind: 'wait'; readonly forMs: number }
  | { readonly kind: 'leaked'; readonly finding: Finding }

/** As long as a request may take: an address is taken before its Service is stored. */
const CREATION_GRACE_MS = 60_000
/** A refused request gives back what it took for a Service that there is. */
const REVERSAL_GRACE_MS = 5_000

export function faultsOf(service: Stored, view: AllocationView): ServiceFault[] {
  return allocatedIps(service).flatMap((text) => faultOf(service, text, view) ?? [])
}

function faultOf(service: Stored, text: string, view: AllocationView): ServiceFault | undefined {
  const ip = parseIp(text, true)
  if (ip === undefined) {
    // What could not be read has no text, upstream.
    const note = 'Cluster IP <nil> is not a valid IP; please recreate Service'
    return { finding: { reason: 'ClusterIPNotValid', action: 'ClusterIPValidation', note } }
  }
  const name = formatIp(ip)
  const family = `[${familyOf(name)}]`
  if (!view.isInRange(ip))
    return told(
      'ClusterIPOutOfRange',
      `Cluster IP ${family}: ${name} is not within any configured Service CIDR; please recreate service`,
    )
  const address = view.address(name)
  if (address === undefined) {
    const note = `Cluster IP ${family}: ${name} is not allocated; repairing`
    return { ...told('ClusterIPNotAllocated', note), remake: name }
  }
  const { namespace, name: own } = service['metadata']
  const parent = parentOf(address)
  const holder = isService(parent) ? view.service(parent['namespace'], parent['name']) : undefined
  if (holder === undefined) {
    const note = `the ClusterIP ${family}: ${name} for Service ${namespace}/${own} has a wrong reference; repairing`
    return { ...told('ClusterIPNotAllocated', note), remake: name }
  }
  const isOwn = parent['namespace'] === namespace && parent['name'] === own
  const isShared = !isOwn && holds(holder, name)
  const doubled = isShared
    ? told(
        'ClusterIPAlreadyAllocated',
        `Cluster IP ${family}:${name} was assigned to multiple services; please recreate service`,
      )
    : undefined
  if (hasAllocatorLabels(address)) return doubled
  // The one that the IPAddress names keeps it: two Services would take it from each other without an end.
  return isShared ? doubled : { remake: name }
}

function told(reason: string, note: string): { readonly finding: Finding } {
  return { finding: { reason, action: 'ClusterIPAllocation', note } }
}

/** Of what the allocator made, or somebody in its name: IPAddresses of others are not looked at. */
export function judgeAddress(address: Stored, view: AllocationView, nowMs: number): AddressVerdict {
  if (!isManaged(address)) return { kind: 'fine' }
  const { name, creationTimestamp } = address['metadata']
  const parent = parentOf(address)
  if (!isService(parent))
    return leaked(
      'IPAddressNotAllocated',
      `IPAddress ${name} appears to have been modified, not referencing a Service ${printed(parent)}: cleaning up`,
    )
  const { namespace, name: owner } = parent
  const service = view.service(namespace, owner)
  if (service !== undefined && holds(service, name)) return { kind: 'fine' }
  const graceMs = service === undefined ? CREATION_GRACE_MS : REVERSAL_GRACE_MS
  const forMs = Math.min(graceMs, Date.parse(creationTimestamp) + graceMs - nowMs)
  if (forMs > 0) return { kind: 'wait', forMs }
  return service === undefined
    ? leaked(
        'IPAddressNotAllocated',
        `IPAddress: ${name} for Service ${namespace}/${owner} appears to have leaked: cleaning up`,
      )
    : leaked(
        'IPAddressWrongReference',
        `IPAddress: ${name} for Service ${namespace}/${owner} has a wrong reference; cleaning up`,
      )
}

function leaked(reason: string, note: string): AddressVerdict {
  return { kind: 'leaked', finding: { reason, action: 'IPAddressAllocation', note } }
}

function parentOf(address: Stored): Stored {
  return address['spec']?.parentRef ?? {}
}

function isService({ group = '', resource }: Stored): boolean {
  return group === '' && resource === 'services'
}

function holds(service: Stored, name: string): boolean {
  return (service['spec'].clusterIPs ?? []).includes(name)
}

/** As Go prints it. */
function printed({ group = '', resource = '', namespace = '', name = '' }: Stored): string {
  return `&ParentReference{Group:${group},Resource:${resource},Namespace:${namespace},Name:${name},}`
}
