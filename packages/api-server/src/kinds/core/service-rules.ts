import type { Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'
import { invalidAll, validateLabels } from '../../schema/validation/labels.ts'
import { validateCidr, validateIp, validateNonSpecialIp } from '../../schema/validation/ip.ts'
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../schema/validation/names.ts'
import {
  validatePortNumber,
  validatePortOrName,
  validateRange,
} from '../../schema/validation/numbers.ts'

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const PROTOCOLS = ['SCTP', 'TCP', 'UDP']

export function validateServiceSpec(spec: Stored, errors: FieldErrors): void {
  const ports: readonly Stored[] = spec.ports ?? []
  const headless = spec.clusterIP === 'None' || spec.clusterIPs?.[0] === 'None'
  if (ports.length === 0 && !headless && spec.type !== 'ExternalName') errors.required('spec.ports')
  if (spec.type === 'LoadBalancer') {
    for (const [index, port] of ports.entries()) {
      if (port.port === 10250)
        errors.invalid(
          `spec.ports[${index}]`,
          port.port,
          'may not expose port 10250 externally since it is used by kubelet',
        )
    }
    if (headless)
      errors.invalid(
        'spec.clusterIPs[0]',
        'None',
        "may not be set to 'None' for LoadBalancer services",
      )
  }
  if (spec.type === 'NodePort' && headless)
    errors.invalid('spec.clusterIPs[0]', 'None', "may not be set to 'None' for NodePort services")
  if (spec.type === 'ExternalName') validateExternalName(spec, errors)
  const names = new Set<string>()
  for (const [index, port] of ports.entries())
    validatePort(port, ports.length > 1, names, errors, `spec.ports[${index}]`)
  validateLabels(spec.selector, errors, 'spec.selector')
  validateAffinity(spec, errors)
  validateNodePorts(spec, errors)
  if (!spec.type) errors.required('spec.type')
  else if (!TYPES.includes(spec.type)) errors.notSupported('spec.type', spec.type, TYPES)
  validateAddresses(spec, errors)
  validateTrafficPolicies(spec, errors)
  validateDuplicatePorts(ports, errors)
}

function validateExternalName(spec: Stored, errors: FieldErrors): void {
  if ((spec.clusterIPs ?? []).length > 0)
    errors.forbidden('spec.clusterIPs', 'may not be set for ExternalName services')
  if ((spec.ipFamilies ?? []).length > 0)
    errors.forbidden('spec.ipFamilies', 'may not be set for ExternalName services')
  if (spec.ipFamilyPolicy !== undefined)
    errors.forbidden('spec.ipFamilyPolicy', 'may not be set for ExternalName services')
  const name = String(spec.externalName ?? '').replace(/\.$/, '')
  if (name === '') errors.required('spec.externalName')
  else invalidAll(errors, 'spec.externalName', name, dnsSubdomain(name.toLowerCase()))
}

function validatePort(
  port: Stored,
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

function validateAffinity(spec: Stored, errors: FieldErrors): void {
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

function validateNodePorts(spec: Stored, errors: FieldErrors): void {
  const seen = new Set<string>()
  for (const [index, port] of (spec.ports ?? []).entries()) {
    const at = `spec.ports[${index}].nodePort`
    if (!port.nodePort) continue
    if (spec.type === 'ClusterIP' || spec.type === 'ExternalName') {
      errors.forbidden(at, `may not be used when \`type\` is '${spec.type}'`)
      continue
    }
    validateRange(port.nodePort, 0, 65535, errors, at)
    const key = `${port.protocol}/${port.nodePort}`
    if (seen.has(key)) errors.duplicate(at, port.nodePort)
    seen.add(key)
  }
}

function validateAddresses(spec: Stored, errors: FieldErrors): void {
  const clusterIps: readonly string[] = spec.clusterIPs ?? []
  if (spec.clusterIP && clusterIps.length === 0)
    validateClusterIp(spec.clusterIP, errors, 'spec.clusterIP')
  if (clusterIps.length > 2) errors.tooMany('spec.clusterIPs', clusterIps.length, 2)
  for (const [index, ip] of clusterIps.entries()) {
    if (ip === 'None' && index === 0) {
      if (clusterIps.length > 1)
        errors.invalid('spec.clusterIPs', clusterIps, "'None' must be the first and only value")
    } else validateClusterIp(ip, errors, `spec.clusterIPs[${index}]`)
  }
  for (const [index, ip] of (spec.externalIPs ?? []).entries()) {
    const before = errors.list.length
    validateIp(ip, errors, `spec.externalIPs[${index}]`)
    if (errors.list.length === before)
      validateNonSpecialIp(ip, errors, `spec.externalIPs[${index}]`)
  }
  const families = ['IPv4', 'IPv6']
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    if (!families.includes(family))
      errors.notSupported(`spec.ipFamilies[${index}]`, family, families)
  }
  if (spec.ipFamilies?.length === 2 && spec.ipFamilies[0] === spec.ipFamilies[1])
    errors.duplicate('spec.ipFamilies[1]', spec.ipFamilies[1])
  const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
  if (spec.ipFamilyPolicy !== undefined && !policies.includes(spec.ipFamilyPolicy))
    errors.notSupported('spec.ipFamilyPolicy', spec.ipFamilyPolicy, policies)
}

function validateClusterIp(ip: string, errors: FieldErrors, field: string): void {
  if (ip === 'None') return
  validateIp(ip, errors, field)
}

function validateTrafficPolicies(spec: Stored, errors: FieldErrors): void {
  if ((spec.loadBalancerSourceRanges ?? []).length > 0) {
    if (spec.type !== 'LoadBalancer')
      errors.forbidden(
        'spec.loadBalancerSourceRanges',
        "may only be used when `type` is 'LoadBalancer'",
      )
    for (const [index, range] of spec.loadBalancerSourceRanges.entries())
      validateCidr(range.trim(), errors, `spec.loadBalancerSourceRanges[${index}]`)
  }
  const external: string | undefined = spec.externalTrafficPolicy
  const exposed =
    spec.type === 'NodePort' ||
    spec.type === 'LoadBalancer' ||
    (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0)
  if (external) {
    if (!exposed)
      errors.invalid(
        'spec.externalTrafficPolicy',
        external,
        'may only be set for externally-accessible services',
      )
    else if (!['Cluster', 'Local'].includes(external))
      errors.notSupported('spec.externalTrafficPolicy', external, ['Cluster', 'Local'])
  }
  if (spec.healthCheckNodePort && !(spec.type === 'LoadBalancer' && external === 'Local')) {
    errors.invalid(
      'spec.healthCheckNodePort',
      spec.healthCheckNodePort,
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
    )
  }
  const internal: string | undefined = spec.internalTrafficPolicy
  if (internal !== undefined && !['Cluster', 'Local'].includes(internal))
    errors.notSupported('spec.internalTrafficPolicy', internal, ['Cluster', 'Local'])
  if (spec.allocateLoadBalancerNodePorts !== undefined && spec.type !== 'LoadBalancer') {
    errors.forbidden(
      'spec.allocateLoadBalancerNodePorts',
      "may only be used when `type` is 'LoadBalancer'",
    )
  }
  if (spec.loadBalancerClass !== undefined) {
    if (spec.type !== 'LoadBalancer')
      errors.forbidden('spec.loadBalancerClass', "may only be used when `type` is 'LoadBalancer'")
    else
      invalidAll(
        errors,
        'spec.loadBalancerClass',
        spec.loadBalancerClass,
        qualifiedName(spec.loadBalancerClass),
      )
  }
  const distributions = ['PreferClose', 'PreferSameNode', 'PreferSameZone']
  if (spec.trafficDistribution !== undefined && !distributions.includes(spec.trafficDistribution)) {
    errors.notSupported('spec.trafficDistribution', spec.trafficDistribution, distributions)
  }
}

function validateDuplicatePorts(ports: readonly Stored[], errors: FieldErrors): void {
  const seen = new Set<string>()
  for (const [index, port] of ports.entries()) {
    const key = `${port.protocol}/${port.port}`
    if (seen.has(key)) {
      errors.duplicate(`spec.ports[${index}]`, {
        name: '',
        protocol: port.protocol,
        port: port.port,
        targetPort: 0,
      })
    }
    seen.add(key)
  }
}

/** Addresses stay while the type stays; a change from or to ExternalName frees them. */
export function validateServiceUpdate(object: Stored, stored: Stored, errors: FieldErrors): void {
  const now: Stored = object.spec ?? {}
  const before: Stored = stored.spec ?? {}
  if (now.type === 'ExternalName' || before.type === 'ExternalName') return
  const given: readonly string[] = now.clusterIPs ?? []
  const old: readonly string[] = before.clusterIPs ?? []
  if (old.length > 0 && old[0] !== '' && old[0] !== given[0])
    errors.invalid('spec.clusterIPs[0]', given, 'may not change once set')
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
}
