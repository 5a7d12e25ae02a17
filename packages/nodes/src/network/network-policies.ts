/**
 * Whether NetworkPolicies let a connection between two pods through, as networks that enforce them decide it.
 * Contract: docs/behaviour/simulation/kubelet.md, Network policies. Pure.
 */
import { cidrContains, labelQueryOf, parseCidr, parseIp } from '@gyropilot/api'
import type { LabelSelector, NetworkPolicy, Pod } from '@gyropilot/api'

import type { Protocol } from '../shell/network.ts'

type Rule = NonNullable<NonNullable<NetworkPolicy['spec']>['ingress']>[number]
type Peer = NonNullable<Rule['from']>[number]
type PolicyPort = NonNullable<Rule['ports']>[number]
type Labels = Readonly<Record<string, string>>

/** One end of a connection. */
export interface Party {
  readonly pod: Pod
  readonly namespaceLabels: Labels
}

export interface Connection {
  readonly from: Party
  readonly to: Party
  /** At the pod, not at a Service in front of it. */
  readonly port: number
  readonly protocol: Protocol
}

/** The policies are those of both namespaces. */
export function isAllowed(policies: readonly NetworkPolicy[], connection: Connection): boolean {
  const { from, to } = connection
  const { uid } = from.pod.metadata ?? {}
  if (uid !== undefined && uid === to.pod.metadata?.uid) return true
  return permits(policies, 'Egress', connection) && permits(policies, 'Ingress', connection)
}

function permits(
  policies: readonly NetworkPolicy[],
  direction: 'Egress' | 'Ingress',
  connection: Connection,
): boolean {
  const { from, to } = connection
  const [subject, other] = direction === 'Egress' ? [from, to] : [to, from]
  if (isOnHost(subject)) return true
  // A node must reach its own pods: its kubelet probes them.
  if (direction === 'Ingress' && isOnHost(other) && nodeOf(subject) === nodeOf(other)) return true
  const applying = policies.filter((policy) => appliesTo(policy, direction, subject.pod))
  if (applying.length === 0) return true
  return applying.some((policy) =>
    rulesOf(policy, direction).some(
      ({ peers, ports }) =>
        (peers.length === 0 || peers.some((peer) => isPeer(peer, policy, other))) &&
        (ports.length === 0 || ports.some((port) => isPort(port, connection))),
    ),
  )
}

function appliesTo({ metadata, spec }: NetworkPolicy, direction: string, pod: Pod): boolean {
  const types: readonly string[] = spec?.policyTypes ?? ['Ingress']
  return (
    metadata?.namespace === pod.metadata?.namespace &&
    types.includes(direction) &&
    selects(spec?.podSelector ?? {}, pod.metadata?.labels)
  )
}

function rulesOf({ spec }: NetworkPolicy, direction: 'Egress' | 'Ingress') {
  return direction === 'Egress'
    ? (spec?.egress ?? []).map(({ to = [], ports = [] }) => ({ peers: to, ports }))
    : (spec?.ingress ?? []).map(({ from = [], ports = [] }) => ({ peers: from, ports }))
}

function isPeer(peer: Peer, policy: NetworkPolicy, { pod, namespaceLabels }: Party): boolean {
  const { ipBlock, namespaceSelector, podSelector } = peer
  if (ipBlock !== undefined) {
    const { cidr, except = [] } = ipBlock
    return addressesOf(pod).some(
      (address) => isWithin(cidr, address) && !except.some((each) => isWithin(each, address)),
    )
  }
  // Pods on their node's network have its address: no selector can tell them from it.
  if (pod.spec?.hostNetwork === true) return false
  const isThere =
    namespaceSelector === undefined
      ? policy.metadata?.namespace === pod.metadata?.namespace
      : selects(namespaceSelector, namespaceLabels)
  return isThere && (podSelector === undefined || selects(podSelector, pod.metadata?.labels))
}

function isPort(
  { port: wanted, endPort, protocol: wantedProtocol = 'TCP' }: PolicyPort,
  { to, port, protocol }: Connection,
): boolean {
  if (wantedProtocol !== protocol) return false
  if (wanted === undefined) return true
  if (typeof wanted === 'number') return port >= wanted && port <= (endPort ?? wanted)
  const { initContainers = [], containers = [] } = to.pod.spec ?? {}
  return [...initContainers, ...containers].some(({ ports = [] }) =>
    ports.some(
      (each) =>
        each.name === wanted &&
        each.containerPort === port &&
        (each.protocol ?? 'TCP') === protocol,
    ),
  )
}

function selects(selector: LabelSelector, labels: Labels = {}): boolean {
  return labelQueryOf(selector).matches(labels)
}

function isWithin(range: string, address: string): boolean {
  const cidr = parseCidr(range, true)
  const ip = parseIp(address)
  return cidr !== undefined && ip !== undefined && cidrContains(cidr, ip)
}

export function addressesOf({ status }: Pod): readonly string[] {
  return status?.podIPs?.map(({ ip }) => ip) ?? (status?.podIP ? [status.podIP] : [])
}

function isOnHost({ pod }: Party): boolean {
  return pod.spec?.hostNetwork === true
}

function nodeOf({ pod }: Party): string | undefined {
  return pod.spec?.nodeName
}
