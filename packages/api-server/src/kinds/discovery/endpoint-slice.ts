import type { Endpoint, EndpointPort, EndpointSlice, ForZone } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { DraftOf, KindRules, Stored, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import {
  formatIp,
  parseIp,
  validateIp,
  validateNonSpecialIp,
} from '@gyropilot/schema/validation/ip'
import {
  dnsLabel,
  dnsSubdomain,
  fullyQualifiedName,
  labelValue,
  qualifiedName,
} from '@gyropilot/schema/validation/names'
import { tableColumns } from '../columns.ts'
import { nullWhenEmpty } from '../workload-template.ts'

const TYPES = ['FQDN', 'IPv4', 'IPv6']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

/** A trailing dot is allowed. The first check that fails ends it; then each label is one. */
function validateDomainName(text: string, errors: FieldErrors, field: string): void {
  if (text === '') {
    errors.required(field)
    return
  }
  const name = text.endsWith('.') ? text.slice(0, -1) : text
  const messages = fullyQualifiedName(name)
  if (messages.length > 0) {
    errors.invalid(field, name, messages.join(','))
    return
  }
  for (const label of name.split('.')) {
    const bad = dnsLabel(label)
    if (bad.length > 0) errors.invalid(field, label, bad.join(','))
  }
}

/** An address of the other family is told of the list, and judged on. */
function validateAddress(
  type: string,
  text: string,
  errors: FieldErrors,
  list: string,
  index: number,
): void {
  const field = `${list}[${index}]`
  if (type === 'FQDN') {
    validateDomainName(text, errors, field)
    return
  }
  if (type !== 'IPv4' && type !== 'IPv6') return
  const before = errors.list.length
  validateIp(text, errors, field)
  if (errors.list.length > before) return
  const ip = parseIp(text)!
  if (ip.family !== (type === 'IPv4' ? 4 : 6))
    errors.invalid(list, text, `must be an ${type} address`)
  else if (formatIp(ip) !== text) {
    errors.invalid(field, text, `must be in canonical form (${JSON.stringify(formatIp(ip))})`)
    return
  }
  validateNonSpecialIp(text, errors, field)
}

function validateEndpoint(
  endpoint: StoredOf<Endpoint>,
  type: string,
  errors: FieldErrors,
  field: string,
): void {
  const addresses: readonly string[] = endpoint.addresses ?? []
  if (addresses.length === 0)
    errors.required(`${field}.addresses`, 'must contain at least 1 address')
  else if (addresses.length > 100) errors.tooMany(`${field}.addresses`, addresses.length, 100)
  for (const [index, address] of addresses.entries())
    validateAddress(type, address, errors, `${field}.addresses`, index)
  if (endpoint.nodeName !== undefined)
    invalidAll(errors, `${field}.nodeName`, endpoint.nodeName, dnsSubdomain(endpoint.nodeName))
  if (endpoint.hostname !== undefined)
    invalidAll(errors, `${field}.hostname`, endpoint.hostname, dnsLabel(endpoint.hostname))
  validateHints(endpoint.hints?.forZones, labelValue, errors, `${field}.hints.forZones`)
  validateHints(endpoint.hints?.forNodes, dnsSubdomain, errors, `${field}.hints.forNodes`)
}

const HINTS_LIMIT = 8

function validateHints(
  hints: readonly StoredOf<ForZone>[] | undefined,
  check: (name: string) => readonly string[],
  errors: FieldErrors,
  field: string,
): void {
  const list = hints ?? []
  if (list.length > HINTS_LIMIT) {
    errors.tooMany(field, list.length, HINTS_LIMIT)
    return
  }
  const names = new Set<string>()
  for (const [index, { name = '' }] of list.entries()) {
    const at = `${field}[${index}].name`
    if (names.has(name)) errors.duplicate(at, name)
    names.add(name)
    invalidAll(errors, at, name, check(name))
  }
}

function validatePorts(ports: readonly StoredOf<EndpointPort>[], errors: FieldErrors): void {
  if (ports.length > 20000) {
    errors.tooMany('ports', ports.length, 20000)
    return
  }
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

/** A field of the beta version, which v1 takes and forgets. Who sends it has changed the slice all the same. */
function dropTopology(object: DraftOf<EndpointSlice>): void {
  for (const endpoint of object.endpoints ?? []) {
    if (endpoint.deprecatedTopology !== undefined) withTopology.add(object)
    delete endpoint.deprecatedTopology
  }
}

const withTopology = new WeakSet<object>()

/** Three values and how many more; nothing to see is said. */
function listText(values: readonly string[]): string {
  const text = values.slice(0, 3).join(',')
  if (values.length > 3) return `${text} + ${values.length - 3} more...`
  return text === '' ? '<unset>' : text
}

/** `judgedAs`: the type that addresses are judged by. */
function validateSlice(
  object: StoredOf<EndpointSlice>,
  errors: FieldErrors,
  judgedAs = object.addressType ?? '',
): void {
  const {
    addressType = '',
    endpoints = [],
    ports = [],
  } = object as {
    addressType?: string
    endpoints?: Stored[] | null
    ports: StoredOf<EndpointPort>[] | null
  }
  if (addressType === '') errors.required('addressType')
  else if (!TYPES.includes(addressType)) errors.notSupported('addressType', addressType, TYPES)
  validatePorts(ports ?? [], errors)
  const list = endpoints ?? []
  if (list.length > 1000) {
    errors.tooMany('endpoints', list.length, 1000)
    return
  }
  for (const [index, endpoint] of list.entries())
    validateEndpoint(endpoint, judgedAs, errors, `endpoints[${index}]`)
}

export const endpointSlice: KindRules<EndpointSlice> = {
  group: 'discovery.k8s.io',
  kind: 'EndpointSlice',
  defaults(object) {
    for (const port of object.ports ?? []) {
      port.name ??= ''
      port.protocol ??= 'TCP'
    }
  },
  generationOf(object) {
    const { metadata, ...rest } = object
    return [rest, metadata?.labels, withTopology.has(object)]
  },
  prepareForCreate: dropTopology,
  prepareForUpdate(object, stored) {
    if (!deepEqual(object.endpoints ?? null, stored.endpoints ?? null)) dropTopology(object)
  },
  canonicalize(object) {
    nullWhenEmpty(object, 'endpoints')
    nullWhenEmpty(object, 'ports')
  },
  warnings: (object, stored) =>
    object.addressType === 'FQDN' && stored === undefined
      ? ['spec.addressType: FQDN endpoints are deprecated']
      : [],
  updateOrder: 'update-only',
  validate: (object, errors) => validateSlice(object, errors),
  validateUpdate(object, stored, errors) {
    // Endpoints that stay are judged as they were, unless the new type is none, which says nothing of addresses.
    const isType = TYPES.includes(object.addressType ?? '')
    const stay = deepEqual(object.endpoints ?? null, stored.endpoints ?? null)
    validateSlice(object, errors, isType && stay ? stored.addressType : object.addressType)
    if (!deepEqual(object.addressType, stored.addressType))
      errors.invalid('addressType', object.addressType ?? '', 'field is immutable')
  },
  columns: tableColumns('discovery.k8s.io/endpointslices', {
    AddressType: (object) => object.addressType ?? '',
    Ports: (object) =>
      listText((object.ports ?? []).map(({ port, name }) => String(port ?? name ?? '*'))),
    Endpoints: (object) =>
      listText((object.endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
  }),
}
