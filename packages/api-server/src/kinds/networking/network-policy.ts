import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { validateLabelSelector } from '@gyropilot/schema/validation/labels'
import {
  canonicalCidrWarnings,
  isStrictSubset,
  parseCidr,
  validateCidr,
} from '@gyropilot/schema/validation/ip'
import { validatePortNumber, validatePortOrName } from '@gyropilot/schema/validation/numbers'
import { selectorText, tableColumns } from '../columns.ts'

const PROTOCOLS = ['TCP', 'UDP', 'SCTP']

function validatePorts(
  ports: readonly StoredOf<NetworkPolicyPort>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, port] of (ports ?? []).entries()) {
    const at = `${field}[${index}]`
    if (port.protocol !== undefined && !PROTOCOLS.includes(port.protocol))
      errors.notSupported(`${at}.protocol`, port.protocol, PROTOCOLS)
    if (typeof port.port === 'string') {
      if (port.endPort !== undefined)
        errors.invalid(
          `${at}.endPort`,
          port.endPort,
          'may not be specified when `port` is non-numeric',
        )
      validatePortOrName(port.port, errors, `${at}.port`)
    } else if (port.port !== undefined) {
      validatePortNumber(port.port, errors, `${at}.port`)
      if (port.endPort !== undefined) {
        if (port.endPort < port.port)
          errors.invalid(`${at}.endPort`, port.port, 'must be greater than or equal to `port`')
        validatePortNumber(port.endPort, errors, `${at}.endPort`)
      }
    } else if (port.endPort !== undefined)
      errors.invalid(
        `${at}.endPort`,
        port.endPort,
        'may not be specified when `port` is not specified',
      )
  }
}

function validatePeer(peer: StoredOf<NetworkPolicyPeer>, errors: FieldErrors, field: string): void {
  validateLabelSelector(peer.podSelector, errors, `${field}.podSelector`)
  validateLabelSelector(peer.namespaceSelector, errors, `${field}.namespaceSelector`)
  if (peer.ipBlock) {
    validateBlock(peer.ipBlock, errors, `${field}.ipBlock`)
    if (peer.podSelector || peer.namespaceSelector)
      errors.forbidden(field, 'may not specify both ipBlock and another peer')
  } else if (!peer.podSelector && !peer.namespaceSelector)
    errors.required(field, 'must specify a peer')
}

function validateBlock(block: StoredOf<IPBlock>, errors: FieldErrors, field: string): void {
  if (!block.cidr) {
    errors.required(`${field}.cidr`)
    return
  }
  validateCidr(block.cidr, errors, `${field}.cidr`)
  const outer = parseCidr(block.cidr, true)
  if (!outer) return
  for (const [index, exception] of (block.except ?? []).entries()) {
    validateCidr(exception, errors, `${field}.except[${index}]`)
    const inner = parseCidr(exception, true)
    if (inner && !isStrictSubset(inner, outer))
      errors.invalid(`${field}.except[${index}]`, exception, 'must be a strict subset of `cidr`')
  }
}

function blockWarnings({ spec }: StoredOf<NetworkPolicy>): string[] {
  const list: string[] = []
  const look = (peers: readonly StoredOf<NetworkPolicyPeer>[] | undefined, field: string): void => {
    for (const [index, { ipBlock }] of (peers ?? []).entries()) {
      if (!ipBlock) continue
      const at = `${field}[${index}].ipBlock`
      list.push(...canonicalCidrWarnings(ipBlock.cidr ?? '', `${at}.cidr`))
      for (const [place, cidr] of (ipBlock.except ?? []).entries())
        list.push(...canonicalCidrWarnings(cidr, `${at}.except[${place}]`))
    }
  }
  for (const [index, { from }] of (spec?.ingress ?? []).entries())
    look(from, `spec.ingress[${index}].from`)
  for (const [index, { to }] of (spec?.egress ?? []).entries()) look(to, `spec.egress[${index}].to`)
  return list
}

export const networkPolicy: KindRules<NetworkPolicy> = {
  group: 'networking.k8s.io',
  kind: 'NetworkPolicy',
  generationOf: (object) => object.spec,
  generationCountsEmpty: true,
  warnings: blockWarnings,
  defaults(object) {
    const spec = (object.spec ??= {})
    for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])])
      for (const port of rule.ports ?? []) port.protocol ??= 'TCP'
    if ((spec.policyTypes ?? []).length === 0)
      spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    validateLabelSelector(spec.podSelector, errors, 'spec.podSelector')
    for (const [index, { ports, from = [] }] of (spec.ingress ?? []).entries()) {
      validatePorts(ports, errors, `spec.ingress[${index}].ports`)
      for (const [position, peer] of from.entries())
        validatePeer(peer, errors, `spec.ingress[${index}].from[${position}]`)
    }
    for (const [index, { ports, to = [] }] of (spec.egress ?? []).entries()) {
      validatePorts(ports, errors, `spec.egress[${index}].ports`)
      for (const [position, peer] of to.entries())
        validatePeer(peer, errors, `spec.egress[${index}].to[${position}]`)
    }
    const types: readonly string[] = spec.policyTypes ?? []
    if (types.length > 2) {
      errors.invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')
      return
    }
    for (const [index, type] of types.entries()) {
      if (type !== 'Ingress' && type !== 'Egress')
        errors.notSupported(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress'])
    }
  },
  columns: tableColumns('networking.k8s.io/networkpolicies', {
    'Pod-Selector': (object) => selectorText(object.spec?.podSelector),
  }),
}
