import type { Service, ServicePort, ServiceSpec } from '@gyropilot/api'
import type { StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll, validateLabels } from '@gyropilot/schema/validation/labels'
import {
  parseIp,
  validateCidr,
  validateIp,
  validateNonSpecialIp,
} from '@gyropilot/schema/validation/ip'
import { dnsLabel, dnsSubdomain, qualifiedName } from '@gyropilot/schema/validation/names'
import { validatePortNumber, validatePortOrName } from '@gyropilot/schema/validation/numbers'
import {
  isHeadlessSpec,
  validateAddressUpdate,
  validateClusterIpFields,
} from './service-addresses.ts'

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
export const INTERNAL_POLICIES: readonly string[] = ['Cluster', 'Local']
const FOR_LOAD_BALANCERS = "may only be used when `type` is 'LoadBalancer'"
export const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode'
export const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints'
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges'

export function validateService(object: StoredOf<Service>, errors: FieldErrors): void {
  validateTopologyMode(object, errors)
  const spec = object.spec ?? {}
  const ports = spec.ports ?? []
  const headless = isHeadlessSpec(spec)
  if (ports.length === 0 && !headless && spec.type !== 'ExternalName') errors.required('spec.ports')
  if (headless && (spec.type === 'LoadBalancer' || spec.type === 'NodePort'))
    errors.invalid(
      'spec.clusterIPs[0]',
      'None',
      `may not be set to 'None' for ${spec.type} services`,
    )
  if (spec.type === 'ExternalName') validateExternalName(spec, errors)
  const names = new Set<string>()
  for (const [index, port] of ports.entries())
    validatePort(port, ports.length > 1, names, errors, `spec.ports[${index}]`)
  validateLabels(spec.selector, errors, 'spec.selector')
  validateAffinity(spec, errors)
  validateClusterIpFields(spec, errors)
  validateExternalIps(spec, errors)
  if (!spec.type) errors.required('spec.type')
  else if (!TYPES.includes(spec.type)) errors.notSupported('spec.type', spec.type, TYPES)
  validateNodePorts(spec, errors)
  validateDuplicatePorts(ports, errors)
  validateSourceRanges(object, errors)
  if (spec.allocateLoadBalancerNodePorts !== undefined && spec.type !== 'LoadBalancer')
    errors.forbidden('spec.allocateLoadBalancerNodePorts', FOR_LOAD_BALANCERS)
  validateLoadBalancerClass(spec, errors)
  validateTrafficPolicies(spec, errors)
}

function validateTopologyMode({ metadata }: StoredOf<Service>, errors: FieldErrors): void {
  const mode: string | undefined = metadata?.annotations?.[TOPOLOGY_MODE]
  const hints: string | undefined = metadata?.annotations?.[TOPOLOGY_HINTS]
  if (mode === undefined || hints === undefined || mode === hints) return
  errors.invalid(
    `metadata.annotations[${TOPOLOGY_MODE}]`,
    mode,
    `must match annotations[${TOPOLOGY_HINTS}] when both are specified`,
  )
}

function validateExternalName(spec: StoredOf<ServiceSpec>, errors: FieldErrors): void {
  if ((spec.clusterIPs ?? []).length > 0)
    errors.forbidden('spec.clusterIPs', 'may not be set for ExternalName services')
  if ((spec.ipFamilies ?? []).length > 0)
    errors.forbidden('spec.ipFamilies', 'may not be set for ExternalName services')
  if (spec.ipFamilyPolicy !== undefined)
    errors.forbidden('spec.ipFamilyPolicy', 'may not be set for ExternalName services')
  const name = String(spec.externalName ?? '').replace(/\.$/, '')
  if (name === '') errors.required('spec.externalName')
  else invalidAll(errors, 'spec.externalName', name, dnsSubdomain(name))
}

function validatePort(
  port: StoredOf<ServicePort>,
  nameRequired: boolean,
  names: Set<string>,
  errors: FieldErrors,
  field: string,
): void {
  if (!port.name) {
    if (nameRequired) errors.required(`${field}.name`)
  } else {
    invalidAll(errors, `${field}.name`, port.name, dnsLabel(port.name))
    if (names.has(port.name)) errors.duplicate(`${field}.name`, port.name)
    names.add(port.name)
  }
  validatePortNumber(port.port, errors, `${field}.port`)
  if (!port.protocol) errors.required(`${field}.protocol`)
  else if (!PROTOCOLS.includes(port.protocol))
    errors.notSupported(`${field}.protocol`, port.protocol, PROTOCOLS)
  validatePortOrName(port.targetPort, errors, `${field}.targetPort`)
  if (port.appProtocol !== undefined)
    invalidAll(errors, `${field}.appProtocol`, port.appProtocol, qualifiedName(port.appProtocol))
}

function validateAffinity(spec: StoredOf<ServiceSpec>, errors: FieldErrors): void {
  if (!spec.sessionAffinity) errors.required('spec.sessionAffinity')
  else if (!['ClientIP', 'None'].includes(spec.sessionAffinity))
    errors.notSupported('spec.sessionAffinity', spec.sessionAffinity, ['ClientIP', 'None'])
  if (spec.sessionAffinity === 'ClientIP') {
    const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds
    if (seconds === undefined) errors.required('spec.sessionAffinityConfig.clientIP.timeoutSeconds')
    else if (!(seconds > 0 && seconds <= 86400)) {
      errors.invalid(
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
        seconds,
        'must be greater than 0 and less than 86400',
      )
    }
  } else if (spec.sessionAffinity === 'None' && spec.sessionAffinityConfig !== undefined) {
    errors.forbidden('spec.sessionAffinityConfig', 'must not be set when session affinity is None')
  }
}

function validateNodePorts(spec: StoredOf<ServiceSpec>, errors: FieldErrors): void {
  const ports = spec.ports ?? []
  if (spec.type === 'ClusterIP') {
    for (const [index, { nodePort }] of ports.entries()) {
      if (nodePort)
        errors.forbidden(
          `spec.ports[${index}].nodePort`,
          "may not be used when `type` is 'ClusterIP'",
        )
    }
  }
  const seen = new Set<string>()
  for (const [index, { nodePort, protocol }] of ports.entries()) {
    if (!nodePort) continue
    const key = `${protocol}/${nodePort}`
    if (seen.has(key)) errors.duplicate(`spec.ports[${index}].nodePort`, nodePort)
    seen.add(key)
  }
}

function validateExternalIps(spec: StoredOf<ServiceSpec>, errors: FieldErrors): void {
  for (const [index, ip] of (spec.externalIPs ?? []).entries()) {
    const before = errors.list.length
    validateIp(ip, errors, `spec.externalIPs[${index}]`)
    if (errors.list.length === before)
      validateNonSpecialIp(ip, errors, `spec.externalIPs[${index}]`)
  }
}

/** The field's path is written with a capital letter. */
function validateSourceRanges(
  { metadata, spec = {} }: StoredOf<Service>,
  errors: FieldErrors,
): void {
  const ranges: readonly string[] = spec.loadBalancerSourceRanges ?? []
  if (ranges.length > 0) {
    const field = 'spec.LoadBalancerSourceRanges'
    if (spec.type !== 'LoadBalancer') errors.forbidden(field, FOR_LOAD_BALANCERS)
    for (const [index, range] of ranges.entries())
      validateCidr(range.trim(), errors, `${field}[${index}]`)
    return
  }
  const text: string | undefined = metadata?.annotations?.[SOURCE_RANGES]
  if (text === undefined) return
  const field = `metadata.annotations[${SOURCE_RANGES}]`
  if (spec.type !== 'LoadBalancer') errors.forbidden(field, FOR_LOAD_BALANCERS)
  if (text.trim() === '') return
  for (const range of text.split(',')) validateCidr(range.trim(), errors, field)
}

function validateLoadBalancerClass(spec: StoredOf<ServiceSpec>, errors: FieldErrors): void {
  const name: string | undefined = spec.loadBalancerClass
  if (name === undefined) return
  const field = 'spec.loadBalancerClass'
  if (spec.type !== 'LoadBalancer') errors.forbidden(field, FOR_LOAD_BALANCERS)
  else invalidAll(errors, field, name, qualifiedName(name))
}

function validateTrafficPolicies(spec: StoredOf<ServiceSpec>, errors: FieldErrors): void {
  const external: string | undefined = spec.externalTrafficPolicy
  if (!isExternallyAccessible(spec)) {
    if (external)
      errors.invalid(
        'spec.externalTrafficPolicy',
        external,
        'may only be set for externally-accessible services',
      )
  } else if (!external) errors.required('spec.externalTrafficPolicy')
  else if (!['Cluster', 'Local'].includes(external))
    errors.notSupported('spec.externalTrafficPolicy', external, ['Cluster', 'Local'])
  const port: number = spec.healthCheckNodePort ?? 0
  if (needsHealthCheck(spec)) {
    if (port === 0) errors.required('spec.healthCheckNodePort')
    else validatePortNumber(port, errors, 'spec.healthCheckNodePort')
  } else if (port !== 0) {
    errors.invalid(
      'spec.healthCheckNodePort',
      port,
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    )
  }
  const internal: string | undefined = spec.internalTrafficPolicy
  if (internal !== undefined && !INTERNAL_POLICIES.includes(internal))
    errors.notSupported('spec.internalTrafficPolicy', internal, INTERNAL_POLICIES)
  const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
  if (spec.trafficDistribution !== undefined && !distributions.includes(spec.trafficDistribution))
    errors.notSupported('spec.trafficDistribution', spec.trafficDistribution, distributions)
}

export function isExternallyAccessible({ type, externalIPs }: StoredOf<ServiceSpec>): boolean {
  if (type === 'ClusterIP') return (externalIPs ?? []).length > 0
  return type === 'NodePort' || type === 'LoadBalancer'
}

function needsHealthCheck(spec: StoredOf<ServiceSpec>): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}

function validateDuplicatePorts(
  ports: readonly StoredOf<ServicePort>[],
  errors: FieldErrors,
): void {
  const seen = new Set<string>()
  for (const [index, { protocol, port }] of ports.entries()) {
    const key = `${protocol}/${port}`
    if (seen.has(key)) {
      errors.duplicate(`spec.ports[${index}]`, {
        Name: '',
        Protocol: protocol,
        AppProtocol: null,
        Port: port,
        TargetPort: 0,
        NodePort: 0,
      })
    }
    seen.add(key)
  }
}

/** Addresses stay while the type stays; a change from or to ExternalName frees them. */
export function validateServiceUpdate(
  object: StoredOf<Service>,
  stored: StoredOf<Service>,
  errors: FieldErrors,
): void {
  const now = object.spec ?? {}
  const before = stored.spec ?? {}
  validateAddressUpdate(now, before, errors)
  if (
    before.loadBalancerClass !== now.loadBalancerClass &&
    before.type === 'LoadBalancer' &&
    now.type === 'LoadBalancer'
  ) {
    errors.invalid(
      'spec.loadBalancerClass',
      now.loadBalancerClass ?? null,
      'may not change once set',
    )
  }
  validateLoadBalancerClass(now, errors)
  if (
    needsHealthCheck(before) &&
    needsHealthCheck(now) &&
    before.healthCheckNodePort !== now.healthCheckNodePort
  )
    errors.forbidden('spec.healthCheckNodePort', 'field is immutable')
}

export function validateLoadBalancerStatus(object: StoredOf<Service>, errors: FieldErrors): void {
  const ingress = object.status?.loadBalancer?.ingress ?? []
  const field = 'status.loadBalancer.ingress'
  if (ingress.length > 0 && object.spec?.type !== 'LoadBalancer') {
    errors.forbidden(field, "may only be used when `spec.type` is 'LoadBalancer'")
    return
  }
  for (const [index, { ip, ipMode, hostname }] of ingress.entries()) {
    const at = `${field}[${index}]`
    if (ip) validateIp(ip, errors, `${at}.ip`)
    if (ipMode !== undefined) {
      if (!ip) errors.forbidden(`${at}.ipMode`, 'may not be specified when `ip` is not set')
      else if (!['Proxy', 'VIP'].includes(ipMode))
        errors.notSupported(`${at}.ipMode`, ipMode, ['Proxy', 'VIP'])
    } else if (ip) errors.required(`${at}.ipMode`, 'must be specified when `ip` is set')
    if (!hostname) continue
    invalidAll(errors, `${at}.hostname`, hostname, dnsSubdomain(hostname))
    if (parseIp(hostname) !== undefined)
      errors.invalid(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address')
  }
}
