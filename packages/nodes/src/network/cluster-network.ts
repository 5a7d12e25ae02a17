/**
 * The network of simulated pods: what kube-proxy, the cluster's DNS and a pod network would do with a name, an address and a
 * port, worked out when a command asks. Nothing listens, and only sessions are kept. Contract: docs/behaviour/simulation/kubelet.md, Network.
 */
import { hostAndPort, resources } from '@gyropilot/api'
import type { EndpointSlice, Pod, Service } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock, RandomSource } from '@gyropilot/foundation'
import { orMissing } from '../container/missing.ts'
import { targetOf } from '../answers/port-answers.ts'
import type { AskedDatagram } from '../answers/agnhost-server.ts'
import type { PortStreams } from '../answers/port-answers.ts'
import { hostsOf, resolverOf } from '../container/pod-names.ts'
import { Gathering } from '../files/gathered.ts'
import type {
  Exchange,
  Lookup,
  Network,
  Protocol,
  RecordType,
  Records,
  Sent,
} from '../shell/network.ts'
import { AddressOwners, isIpv6, ofFamily } from './address-owners.ts'
import { inAnyOrder } from './answer-order.ts'
import { candidates, clusterName, hostsFrom, resolverFrom } from './cluster-names.ts'
import type { ClusterName } from './cluster-names.ts'
import { ClusterRecords, isClusterRecord } from './cluster-records.ts'
import { healthCheckAnswer } from './health-check-port.ts'
import { podAtHostPort } from './host-ports.ts'
import { KUBELET_PORT, NOT_ENCRYPTED, kubeletAnswer } from './kubelet-port.ts'
import { proxyAnswer } from './proxy-port.ts'
import { addressesOf } from './network-policies.ts'
import { lookupIn, recordsIn } from './name-server.ts'
import type { Zone } from './name-server.ts'
import { PolicyGate } from './policy-gate.ts'
import {
  headlessAddresses,
  isProxiedByOthers,
  outerAddresses,
  portOf,
  haveZoneHints,
  routeOf,
  seenAtNode,
} from './service-routes.ts'
import type { Destination, ServicePort } from './service-routes.ts'
import { untilOver } from './sent-bytes.ts'
import { Sessions } from './sessions.ts'

/** That one name may lead to another. */
const MOST_ALIASES = 8
const MOST_ANSWER_BYTES = 8 * 2 ** 20
/** That whoever asks has at its own end; nobody looks at it. */
const CLIENT_PORT = 40_000
const LATE = Symbol('late')
/** kube-proxy's, of a Service that came without. */
const DEFAULT_AFFINITY_SECONDS = 10_800
const LOOPBACK = /^(?:127\.|::1$)/

/** Opens a port of a pod that runs on one of the nodes; a text says why not. */
type Forward = (
  pod: Pod,
  port: number,
  streams: PortStreams,
) => Promise<string | undefined> | undefined

/** What a pod that runs on one of the nodes answers a datagram; undefined: nothing. */
type Datagram = (pod: Pod, asked: AskedDatagram) => Promise<Uint8Array | undefined> | undefined

interface ClusterNetworkOptions {
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  /** Undefined: no node that runs here has the pod. */
  readonly forward: Forward
  readonly datagram: Datagram
  /** What a name server in that pod has; undefined: it runs none. */
  zone(pod: Pod): Promise<Zone | undefined> | undefined
}

/** What all pods have of it together. */
interface SharedNetwork extends ClusterNetworkOptions {
  readonly gate: PolicyGate
  readonly sessions: Sessions
}

export class ClusterNetwork {
  readonly #shared: SharedNetwork

  constructor(options: ClusterNetworkOptions) {
    this.#shared = { ...options, gate: new PolicyGate(options.client), sessions: new Sessions() }
  }

  /** As seen from that pod. `signal` ends what is under way. */
  of(pod: Pod, nodeName: string, signal: AbortSignal): Network {
    return new PodNetwork(this.#shared, pod, nodeName, signal)
  }
}

/** Where a connection to a Service comes in. */
interface Front {
  readonly service: Service
  readonly address: string
  readonly nodeName: string
}

class PodNetwork implements Network {
  readonly #options: SharedNetwork
  readonly #owners: AddressOwners
  readonly #pod: Pod
  readonly #nodeName: string
  readonly #signal: AbortSignal

  constructor(options: SharedNetwork, pod: Pod, nodeName: string, signal: AbortSignal) {
    this.#options = options
    this.#owners = new AddressOwners(options.client)
    this.#pod = pod
    this.#nodeName = nodeName
    this.#signal = signal
  }

  get resolver(): string {
    return resolverFrom(resolverOf(this.#pod)).servers[0] ?? ''
  }

  isOwn(address: string): boolean {
    return LOOPBACK.test(address) || addressesOf(this.#pod).includes(address)
  }

  async lookup(name: string): Promise<Lookup> {
    if (/^\d+\.\d+\.\d+\.\d+$|:/.test(name)) return { kind: 'found', name, addresses: [name] }
    const own = hostsFrom(hostsOf(this.#pod, this.#nodeName)).get(name)
    if (own !== undefined) return { kind: 'found', name, addresses: own }
    if (!(await this.#options.gate.allowsNames(this.#pod, this.resolver)))
      return { kind: 'unknown' }
    const names = candidates(name, resolverFrom(resolverOf(this.#pod)))
    const zone = await this.#zone()
    if (zone !== undefined) return lookupIn(zone, names)
    let isOfCluster = false
    for (const candidate of names) {
      const known = clusterName(candidate)
      if (known === undefined) continue
      const found = await this.#resolved(candidate, known, MOST_ALIASES)
      if (found.kind === 'found')
        return { ...found, addresses: inAnyOrder(found.addresses, this.#options.random) }
      if (found.kind !== 'unknown') return found
      isOfCluster ||= await this.#couldBe(name, known)
    }
    return { kind: isOfCluster ? 'unknown' : 'elsewhere' }
  }

  async records(name: string, type: RecordType, searches: boolean): Promise<Records> {
    const { client, gate } = this.#options
    if (!(await gate.allowsNames(this.#pod, this.resolver))) return { kind: 'unknown', records: [] }
    const sources = new ClusterRecords({
      client,
      slicesOf: (service) => this.#slicesOf(service),
      resolve: async (fullName) => {
        const known = clusterName(fullName)
        return known ? this.#resolved(fullName, known, MOST_ALIASES) : { kind: 'elsewhere' }
      },
    })
    const asked = searches
      ? candidates(name, resolverFrom(resolverOf(this.#pod)))
      : [name.replace(/\.$/, '')]
    const zone = await this.#zone()
    if (zone !== undefined) return recordsIn(zone, asked, type)
    for (const candidate of asked.filter(isClusterRecord)) {
      const records = await sources.of(candidate, type)
      if (records.length > 0) return { kind: 'found', records }
    }
    // Without the search list a short name is one of the root, where there is none.
    const isOfCluster = asked.some((each) => isClusterRecord(each) || !each.includes('.'))
    return { kind: isOfCluster ? 'unknown' : 'elsewhere', records: [] }
  }

  /** Of a name server that the pod asks in the place of the cluster's. */
  async #zone(): Promise<Zone | undefined> {
    if (!this.#pod.spec?.dnsConfig?.nameservers?.includes(this.resolver)) return undefined
    const pod = await this.#owners.pod(this.resolver)
    return pod && this.#options.zone(pod)
  }

  /** Whether a name that nobody has is meant for the cluster: it says so, has one part, or names a Service or namespace that there is. */
  async #couldBe(name: string, known: ClusterName): Promise<boolean> {
    if (!name.includes('.') || clusterName(name.replace(/\.$/, '')) !== undefined) return true
    if (known.kind !== 'service') return false
    if (name.endsWith('.svc')) return true
    const { client } = this.#options
    const { namespace, service, host } = known
    const named =
      host === undefined
        ? client.resource(resources.namespaces).get(namespace)
        : client.resource(resources.services, namespace).get(service)
    return (await orMissing<object>(named)) !== undefined
  }

  async #resolved(fullName: string, known: ClusterName, aliasesLeft: number): Promise<Lookup> {
    if (known.kind === 'none') return { kind: 'unknown' }
    if (known.kind === 'pod') return { kind: 'found', name: fullName, addresses: [known.address] }
    const { namespace, service: serviceName, host } = known
    const { client } = this.#options
    const service = await orMissing(client.resource(resources.services, namespace).get(serviceName))
    if (service === undefined) return { kind: 'unknown' }
    const { type, clusterIP, clusterIPs, externalName = '' } = service.spec ?? {}
    if (type === 'ExternalName') {
      const alias = clusterName(externalName)
      if (alias === undefined) return { kind: 'elsewhere' }
      return aliasesLeft === 0
        ? { kind: 'unknown' }
        : this.#resolved(externalName, alias, aliasesLeft - 1)
    }
    const isHeadless = clusterIP === 'None'
    const addresses =
      isHeadless || host !== undefined
        ? headlessAddresses(service, await this.#slicesOf(service), host)
        : (clusterIPs ?? [clusterIP ?? '']).filter((address) => address !== '')
    return addresses.length === 0
      ? { kind: 'unknown' }
      : { kind: 'found', name: fullName, addresses }
  }

  async exchange(address: string, port: number, sent: Sent): Promise<Exchange> {
    if (this.isOwn(address)) {
      // Whoever is on its node's network has the node's ports for its own.
      const isNode = this.#pod.spec?.hostNetwork === true
      const there = isNode
        ? await this.#exchangeAtNode(this.#nodeName, address, port, sent)
        : undefined
      if (there !== undefined && there.kind !== 'elsewhere') return there
      return this.#exchangeWith(this.#pod, port, sent, address)
    }
    const service = await this.#owners.service(address)
    if (service !== undefined) {
      return this.#exchangeBehind(
        { service, address, nodeName: this.#nodeName },
        portOf(service, 'port', port, protocolOf(sent)),
        sent,
      )
    }
    const pod = await this.#owners.pod(address)
    if (pod !== undefined) return this.#exchangeWith(pod, port, sent, address)
    // All of them are read: last, as few ask for one.
    const node = await this.#owners.nodeName(address)
    if (node !== undefined) return this.#exchangeAtNode(node, address, port, sent)
    return this.#exchangeOutside(address, port, sent)
  }

  /** At an address that leads to a Service from outside of the cluster. From within it is a way to all of its endpoints. */
  async #exchangeOutside(address: string, port: number, sent: Sent): Promise<Exchange> {
    const { items } = await this.#options.client.resource(resources.services).list()
    const service = items.find((each) => outerAddresses(each).includes(address))
    if (service === undefined) return { kind: 'elsewhere' }
    const servicePort = portOf(service, 'port', port, protocolOf(sent))
    const spec = { ...service.spec, internalTrafficPolicy: 'Cluster' } as Service['spec']
    const front = { service: { ...service, spec }, address, nodeName: this.#nodeName }
    return this.#exchangeBehind(front, servicePort, sent)
  }

  /** At a port of the node that stands for a Service or a pod; nothing else is known of what listens there. */
  async #exchangeAtNode(
    nodeName: string,
    address: string,
    port: number,
    sent: Sent,
  ): Promise<Exchange> {
    const protocol = protocolOf(sent)
    if (protocol === 'TCP') {
      if (port === KUBELET_PORT) return this.#exchangeWithKubelet(nodeName, sent)
      const nowMs = this.#options.clock.nowMs()
      const isFromNode = LOOPBACK.test(address)
      const bytes = proxyAnswer({ port, isFromNode, request: sent.bytes, nowMs })
      if (bytes !== undefined) return { kind: 'answered', bytes, isReal: true }
    }
    const { items } = await this.#options.client.resource(resources.services).list()
    for (const service of items) {
      if (service.spec?.healthCheckNodePort === port && protocol === 'TCP') {
        const slices = ofFamily(await this.#slicesOf(service), address)
        const bytes = healthCheckAnswer(service, slices, nodeName)
        return { kind: 'answered', bytes, isReal: true }
      }
      const found = portOf(service, 'nodePort', port, protocol)
      if (found === undefined) continue
      const isOwnNode = this.#pod.spec?.hostNetwork === true && nodeName === this.#nodeName
      const front = { service: seenAtNode(service, isOwnNode), address, nodeName }
      return this.#exchangeBehind(front, found, sent)
    }
    const there = podAtHostPort(await this.#owners.podsOn(nodeName), { address, port, protocol })
    if (there === undefined) return { kind: 'elsewhere' }
    return this.#exchangeWith(there.pod, there.port, sent, address)
  }

  async #exchangeWithKubelet(nodeName: string, { bytes, isEncrypted }: Sent): Promise<Exchange> {
    const { client } = this.#options
    const answer =
      isEncrypted === true ? await kubeletAnswer(client, nodeName, bytes) : NOT_ENCRYPTED
    return { kind: 'answered', bytes: answer, isReal: true }
  }

  async #exchangeBehind(
    { service, address, nodeName }: Front,
    port: ServicePort | undefined,
    sent: Sent,
  ): Promise<Exchange> {
    if (isProxiedByOthers(service)) return { kind: 'lost' }
    const slices = ofFamily(await this.#slicesOf(service), address)
    const zone = haveZoneHints(slices) ? await this.#zoneOf(nodeName) : undefined
    const route = routeOf(service, port, slices, nodeName, zone)
    if (route.kind !== 'to') return route
    const { destinations } = route
    return this.#exchangeAt(this.#chosen(service, port!, destinations), sent)
  }

  #chosen(service: Service, port: ServicePort, destinations: readonly Destination[]): Destination {
    const { random, sessions, clock } = this.#options
    const draw = (): Destination => destinations[Math.floor(random.next() * destinations.length)]!
    const { sessionAffinity, sessionAffinityConfig } = service.spec ?? {}
    if (sessionAffinity !== 'ClientIP') return draw()
    const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS
    const { name = '', protocol = 'TCP' } = port
    const own = this.#ownAddress(destinations[0]!.address) ?? ''
    const key = [service.metadata?.uid, name, protocol, own].join('/')
    const nowMs = clock.monotonicMs()
    return sessions.destination({ key, destinations, timeoutMs: seconds * 1000, nowMs }, draw)
  }

  async #zoneOf(nodeName: string): Promise<string | undefined> {
    const node = await orMissing(this.#options.client.resource(resources.nodes).get(nodeName))
    return node?.metadata?.labels?.['topology.kubernetes.io/zone']
  }

  async #exchangeAt({ address, port, pod }: Destination, sent: Sent): Promise<Exchange> {
    const { client } = this.#options
    const found =
      pod === undefined
        ? await this.#owners.pod(address)
        : await orMissing(client.resource(resources.pods, pod.namespace).get(pod.name))
    if (found !== undefined) return this.#exchangeWith(found, port, sent, address)
    return { kind: pod === undefined ? 'elsewhere' : 'lost' }
  }

  async #exchangeWith(
    pod: Pod,
    port: number,
    { bytes, mostMs, protocol = 'TCP', isEncrypted = false }: Sent,
    address: string,
  ): Promise<Exchange> {
    const isAllowed = await this.#options.gate.allows(this.#pod, pod, port, protocol)
    if (!isAllowed) return { kind: 'lost' }
    if (isEncrypted && targetOf(pod, port) !== undefined) return { kind: 'elsewhere' }
    const own = this.#ownAddress(address)
    const from = own && hostAndPort(own, CLIENT_PORT)
    if (protocol !== 'TCP') {
      const said = await this.#options.datagram(pod, { port, protocol, bytes, from })
      if (said !== undefined) return { kind: 'answered', bytes: said, isReal: true }
      return { kind: protocol === 'UDP' ? 'lost' : 'refused' }
    }
    const received = new Gathering(MOST_ANSWER_BYTES)
    const over = new AbortController()
    const signal = AbortSignal.any([this.#signal, over.signal])
    const answered = this.#options.forward(pod, port, {
      from,
      input: untilOver(bytes, signal),
      output: async (chunk) => received.add(chunk),
      signal,
      isWithinTls: isEncrypted,
    })
    if (answered === undefined) return { kind: 'lost' }
    try {
      const waits: Promise<string | undefined | typeof LATE>[] = [answered]
      // Who waits for ever needs no timer.
      if (mostMs < Infinity) waits.push(sleep(this.#options.clock, mostMs, signal).then(() => LATE))
      const end = await Promise.race(waits)
      if (end === LATE) return { kind: 'late' }
      if (end !== undefined) return { kind: 'refused' }
    } finally {
      over.abort()
    }
    const isReal = targetOf(pod, port) !== undefined
    return { kind: 'answered', bytes: received.bytes(), isReal }
  }

  /** Of its own addresses the one that is seen from there. */
  #ownAddress(peer: string): string | undefined {
    const own = addressesOf(this.#pod)
    return own.find((each) => isIpv6(each) === isIpv6(peer)) ?? own[0]
  }

  #slicesOf(service: Service): Promise<readonly EndpointSlice[]> {
    return this.#owners.slicesOf(service)
  }
}

function protocolOf({ protocol = 'TCP' }: Sent): Protocol {
  return protocol
}
