import type { KindRules, Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'
import { invalidAll } from '../../schema/validation/labels.ts'
import { parseIp, validateIp, validateNonSpecialIp } from '../../schema/validation/ip.ts'
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../schema/validation/names.ts'
import { tableColumns } from '../columns.ts'
import { nullWhenEmpty, sameJson } from '../workload-template.ts'

const TYPES = ['FQDN', 'IPv4', 'IPv6']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

function validateAddress(type: string, text: string, errors: FieldErrors, field: string): void {
  if (type === 'FQDN') {
    invalidAll(errors, field, text, dnsSubdomain(text))
    return
  }
  if (type !== 'IPv4' && type !== 'IPv6') return
  const before = errors.list.length
  validateIp(text, errors, field)
  const ip = parseIp(text)
  if (ip && ip.family !== (type === 'IPv4' ? 4 : 6))
    errors.invalid(field, text, `must be an ${type} address`)
  if (errors.list.length === before) validateNonSpecialIp(text, errors, field)
}

function validateEndpoint(
  endpoint: Stored,
  type: string,
  errors: FieldErrors,
  field: string,
): void {
  const addresses: readonly string[] = endpoint.addresses ?? []
  if (addresses.length === 0)
    errors.required(`${field}.addresses`, 'must contain at least 1 address')
  else if (addresses.length > 100) errors.tooMany(`${field}.addresses`, addresses.length, 100)
  for (const [index, address] of addresses.entries())
    validateAddress(type, address, errors, `${field}.addresses[${index}]`)
  if (endpoint.nodeName !== undefined)
    invalidAll(errors, `${field}.nodeName`, endpoint.nodeName, dnsSubdomain(endpoint.nodeName))
  const topology: Record<string, string> = endpoint.deprecatedTopology ?? {}
  if (Object.keys(topology).length > 16)
    errors.tooMany(`${field}.deprecatedTopology`, Object.keys(topology).length, 16)
  if (endpoint.hostname !== undefined)
    invalidAll(errors, `${field}.hostname`, endpoint.hostname, dnsLabel(endpoint.hostname))
  for (const [index, zone] of (endpoint.hints?.forZones ?? []).entries()) {
    if (!zone.name) errors.required(`${field}.hints.forZones[${index}].name`)
  }
}

function validatePorts(ports: readonly Stored[], errors: FieldErrors): void {
  if (ports.length > 20000) errors.tooMany('ports', ports.length, 20000)
  const names = new Set<string>()
  for (const [index, port] of ports.entries()) {
    const at = `ports[${index}]`
    const name: string = port.name ?? ''
    if (name !== '') invalidAll(errors, `${at}.name`, name, dnsLabel(name))
    if (names.has(name)) errors.duplicate(`${at}.name`, name)
    names.add(name)
    if (port.protocol === undefined) errors.required(`${at}.protocol`)
    else if (!PROTOCOLS.includes(port.protocol))
      errors.notSupported(`${at}.protocol`, port.protocol, PROTOCOLS)
    if (port.appProtocol !== undefined)
      invalidAll(errors, `${at}.appProtocol`, port.appProtocol, qualifiedName(port.appProtocol))
  }
}

function listText(values: readonly string[]): string {
  if (values.length === 0) return '<unset>'
  return values.length > 3
    ? `${values.slice(0, 3).join(',')} + ${values.length - 3} more...`
    : values.join(',')
}

export const endpointSlice: KindRules = {
  group: 'discovery.k8s.io',
  kind: 'EndpointSlice',
  defaults(object) {
    for (const port of object.ports ?? []) {
      port.name ??= ''
      port.protocol ??= 'TCP'
    }
  },
  generationOf: ({ metadata, ...rest }) => [rest, metadata?.labels],
  canonicalize(object) {
    nullWhenEmpty(object, 'endpoints')
    nullWhenEmpty(object, 'ports')
  },
  validate(object, errors) {
    const {
      addressType = '',
      endpoints = [],
      ports = [],
    } = object as { addressType?: string; endpoints?: Stored[] | null; ports?: Stored[] | null }
    if (addressType === '') errors.required('addressType')
    else if (!TYPES.includes(addressType)) errors.notSupported('addressType', addressType, TYPES)
    const list = endpoints ?? []
    if (list.length > 1000) errors.tooMany('endpoints', list.length, 1000)
    for (const [index, endpoint] of list.entries())
      validateEndpoint(endpoint, addressType, errors, `endpoints[${index}]`)
    validatePorts(ports ?? [], errors)
  },
  validateUpdate(object, stored, errors) {
    if (!sameJson(object.addressType, stored.addressType))
      errors.invalid('addressType', object.addressType ?? '', 'field is immutable')
  },
  columns: tableColumns('discovery.k8s.io/endpointslices', {
    AddressType: (object) => object.addressType ?? '',
    Ports: (object) =>
      listText(
        (object.ports ?? []).map(({ port }: Stored) => (port === undefined ? '*' : String(port))),
      ),
    Endpoints: (object) =>
      listText((object.endpoints ?? []).flatMap(({ addresses }: Stored) => addresses ?? [])),
  }),
}
