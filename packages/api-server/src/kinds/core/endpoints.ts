import type { EndpointAddress, Endpoints, EndpointSubset } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import {
  canonicalIpWarnings,
  validateIp,
  validateNonSpecialIp,
} from '@gyropilot/schema/validation/ip'
import { dnsLabel, dnsSubdomain, qualifiedName } from '@gyropilot/schema/validation/names'
import { validatePortNumber } from '@gyropilot/schema/validation/numbers'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { tableColumns } from '../columns.ts'

const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

function validateAddress(
  address: StoredOf<EndpointAddress>,
  errors: FieldErrors,
  field: string,
): void {
  const ip: string = address.ip ?? ''
  validateIp(ip, errors, `${field}.ip`)
  if (address.hostname)
    invalidAll(errors, `${field}.hostname`, address.hostname, dnsLabel(address.hostname))
  if (address.nodeName !== undefined)
    invalidAll(errors, `${field}.nodeName`, address.nodeName, dnsSubdomain(address.nodeName))
  validateNonSpecialIp(ip, errors, `${field}.ip`)
}

function validateSubset(
  subset: StoredOf<EndpointSubset>,
  errors: FieldErrors,
  field: string,
): void {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    errors.required(field, 'must specify `addresses` or `notReadyAddresses`')
  }
  for (const [index, address] of addresses.entries())
    validateAddress(address, errors, `${field}.addresses[${index}]`)
  for (const [index, address] of notReadyAddresses.entries())
    validateAddress(address, errors, `${field}.notReadyAddresses[${index}]`)
  for (const [index, port] of ports.entries()) {
    const at = `${field}.ports[${index}]`
    if (ports.length > 1 && !port.name) errors.required(`${at}.name`)
    else if (port.name) invalidAll(errors, `${at}.name`, port.name, dnsLabel(port.name))
    validatePortNumber(port.port, errors, `${at}.port`)
    if (!port.protocol) errors.required(`${at}.protocol`)
    else if (!PROTOCOLS.includes(port.protocol))
      errors.notSupported(`${at}.protocol`, port.protocol, PROTOCOLS)
    if (port.appProtocol !== undefined)
      invalidAll(errors, `${at}.appProtocol`, port.appProtocol, qualifiedName(port.appProtocol))
  }
}

/** Up to three `ip:port` pairs. */
/** Port by port; subsets without ready addresses show as nothing at all. */
function endpointsText(object: StoredOf<Endpoints>): string {
  const subsets = object.subsets ?? []
  if (subsets.length === 0) return '<none>'
  const pairs = subsets.flatMap(({ addresses, ports = [] }) => {
    const ips: readonly string[] = (addresses ?? []).map(({ ip }) => String(ip))
    if (ports.length === 0) return ips
    return ports.flatMap(({ port }) =>
      ips.map((ip) => `${ip.includes(':') ? `[${ip}]` : ip}:${port}`),
    )
  })
  const text = pairs.slice(0, 3).join(',')
  return pairs.length > 3 ? `${text} + ${pairs.length - 3} more...` : text
}

export const endpoints: KindRules<Endpoints> = {
  group: '',
  kind: 'Endpoints',
  generationOf: null,
  createOnUpdate: true,
  defaults(object) {
    for (const subset of object.subsets ?? [])
      for (const port of subset.ports ?? []) port.protocol ||= 'TCP'
  },
  validate(object, errors) {
    for (const [index, subset] of (object.subsets ?? []).entries())
      validateSubset(subset, errors, `subsets[${index}]`)
  },
  warnings(object) {
    return (object.subsets ?? []).flatMap((subset, index) =>
      (['addresses', 'notReadyAddresses'] as const).flatMap((list) =>
        (subset[list] ?? []).flatMap(({ ip = '' }, at) =>
          canonicalIpWarnings(ip, `subsets[${index}].${list}[${at}].ip`),
        ),
      ),
    )
  },
  columns: tableColumns('endpoints', { Endpoints: endpointsText }),
}
