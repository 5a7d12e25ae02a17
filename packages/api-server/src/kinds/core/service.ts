import type { Service, ServiceSpec } from '@gyropilot/api'
import type { DraftOf, KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { emptyStatus } from '@gyropilot/schema/decode'
import { canonicalCidrWarnings, canonicalIpWarnings } from '@gyropilot/schema/validation/ip'
import { balancerAddresses, labelsText, tableColumns } from '../columns.ts'
import {
  INTERNAL_POLICIES,
  TOPOLOGY_HINTS,
  TOPOLOGY_MODE,
  isExternallyAccessible,
  validateLoadBalancerStatus,
  validateService,
  validateServiceUpdate,
} from './service-rules.ts'

const hasNodePorts = (type: string): boolean => type === 'NodePort' || type === 'LoadBalancer'

function defaults(object: DraftOf<Service>): void {
  const spec = (object.spec ??= {})
  spec.sessionAffinity ||= 'None'
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  else if (
    spec.sessionAffinity === 'ClientIP' &&
    spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined
  ) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10800 } }
  }
  spec.type ||= 'ClusterIP'
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP'
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '')
      port.targetPort = port.port ?? 0
  }
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= 'Cluster'
  if (hasNodePorts(spec.type) || spec.type === 'ClusterIP') spec.internalTrafficPolicy ??= 'Cluster'
  if (spec.type === 'LoadBalancer') {
    spec.allocateLoadBalancerNodePorts ??= true
    for (const ingress of object.status?.loadBalancer?.ingress ?? [])
      if (ingress.ip) ingress.ipMode ??= 'VIP'
  }
}

function externalIps(object: StoredOf<Service>): string {
  const spec = object.spec ?? {}
  const own: readonly string[] = spec.externalIPs ?? []
  if (spec.type === 'ExternalName') return spec.externalName ?? ''
  if (spec.type === 'LoadBalancer') {
    const all = [...new Set([...balancerAddresses(object.status?.loadBalancer?.ingress), ...own])]
    return all.length > 0 ? all.join(',') : '<pending>'
  }
  if (!spec.type) return '<unknown>'
  return own.length > 0 ? own.join(',') : '<none>'
}

function portsText(object: StoredOf<Service>): string {
  const ports = object.spec?.ports ?? []
  if (ports.length === 0) return '<none>'
  return ports
    .map(({ port, nodePort, protocol }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol}`)
    .join(',')
}

function warnings(object: StoredOf<Service>): string[] {
  const { metadata, spec = {} } = object
  const list: string[] = []
  if (metadata?.annotations?.[TOPOLOGY_HINTS] !== undefined)
    list.push(`annotation ${TOPOLOGY_HINTS} is deprecated, please use ${TOPOLOGY_MODE} instead`)
  if (spec.clusterIP === 'None') {
    if (spec.loadBalancerIP) list.push('spec.loadBalancerIP is ignored for headless services')
    if ((spec.externalIPs ?? []).length > 0)
      list.push('spec.externalIPs is ignored for headless services')
    if (spec.sessionAffinity !== 'None')
      list.push('spec.SessionAffinity is ignored for headless services')
  }
  list.push(...addressWarnings(spec))
  if (spec.type === 'ExternalName' && (spec.externalIPs ?? []).length > 0)
    list.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  if (spec.type !== 'ExternalName' && spec.externalName)
    list.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  if (spec.trafficDistribution === 'PreferClose')
    list.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  return list
}

/** Addresses that are good but not written as RFC 5952 wants them, and those that nobody may serve one day. */
function addressWarnings(spec: StoredOf<ServiceSpec>): string[] {
  const { clusterIPs = [], externalIPs = [], loadBalancerIP = '' } = spec
  const list = [
    ...clusterIPs.flatMap((ip, index) => canonicalIpWarnings(ip, `spec.clusterIPs[${index}]`)),
    ...externalIPs.flatMap((ip, index) => canonicalIpWarnings(ip, `spec.externalIPs[${index}]`)),
  ]
  const inUse = spec.clusterIP !== 'None' && spec.type !== 'ExternalName'
  if (inUse && externalIPs.length > 0)
    list.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters')
  list.push(...canonicalIpWarnings(loadBalancerIP, 'spec.loadBalancerIP'))
  for (const [index, cidr] of (spec.loadBalancerSourceRanges ?? []).entries())
    list.push(...canonicalCidrWarnings(cidr, `spec.loadBalancerSourceRanges[${index}]`))
  return list
}

/** Nothing is routed to an ExternalName; what is no policy is refused all the same. */
function dropPolicyOfName({ spec }: DraftOf<Service>): void {
  if (spec?.type !== 'ExternalName') return
  if (INTERNAL_POLICIES.includes(spec.internalTrafficPolicy ?? ''))
    delete spec.internalTrafficPolicy
}

export const service: KindRules<Service> = {
  group: '',
  kind: 'Service',
  name: 'label',
  generationOf: null,
  createOnUpdate: true,
  defaults,
  prepareForCreate(object) {
    dropPolicyOfName(object)
    object.status = emptyStatus({ group: '', version: 'v1', kind: 'Service' })
  },
  prepareForUpdate(object, stored) {
    dropPolicyOfName(object)
    object.status = stored.status
    // The balancer may still be going away; nobody has to wait for that to see it gone.
    if (object.spec?.type !== 'LoadBalancer') object.status = { ...stored.status, loadBalancer: {} }
  },
  validate: validateService,
  updateOrder: 'update-first',
  validateUpdate: validateServiceUpdate,
  status: {
    createOnUpdate: 'always',
    validateUpdate: (object, _stored, errors) => validateLoadBalancerStatus(object, errors),
    warnings: ({ status }) =>
      (status?.loadBalancer?.ingress ?? []).flatMap(({ ip = '' }, index) =>
        canonicalIpWarnings(ip, `status.loadBalancer.ingress[${index}]`),
      ),
  },
  selectableFields: {
    'spec.clusterIP': (object) => object.spec?.clusterIP ?? '',
    'spec.type': (object) => object.spec?.type ?? '',
  },
  warnings,
  columns: tableColumns('services', {
    Type: (object) => object.spec?.type ?? '',
    'Cluster-IP': (object) => object.spec?.clusterIPs?.[0] || object.spec?.clusterIP || '<none>',
    'External-IP': externalIps,
    'Port(s)': portsText,
    Selector: (object) => labelsText(object.spec?.selector),
  }),
}
