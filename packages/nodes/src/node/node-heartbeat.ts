/** Keeps a simulated node known: registration, Lease, status. Contract: docs/behaviour/simulation/kubelet.md, Heartbeats. */
import { deepEqual, findCondition, resources } from '@gyropilot/api'
import type { Lease, Node, NodeStatus } from '@gyropilot/api'
import { isAlreadyExists, isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { formatMicroTime, jitter, sleep } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'
import { isSaid, nodeObject, nodeStatus, resourcesGone } from './node-object.ts'
import type { SimulatedNodeConfiguration } from './node-object.ts'
import { csiNode, registeredAgain } from '../storage/driver-objects.ts'

const LEASE_NAMESPACE = 'kube-node-lease'
const LEASE_DURATION_SECONDS = 40
const LEASE_PERIOD_MS = 10_000
const STATUS_PERIOD_MS = 300_000
const JITTER = 0.04
const FIRST_RETRY_MS = 100
const FIRST_LEASE_RETRY_MS = 200
const RETRY_LIMIT_MS = 7_000

/** What is told of a condition that turns good. */
const ANNOUNCED = [
  ['MemoryPressure', 'NodeHasSufficientMemory'],
  ['DiskPressure', 'NodeHasNoDiskPressure'],
  ['PIDPressure', 'NodeHasSufficientPID'],
  ['Ready', 'NodeReady'],
] as const

interface HeartbeatServices {
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly recorder: EventRecorder
  /** The node as it is known here, which may be a little late; undefined: it is not, or not yet. */
  known(): Node | undefined
}

export class NodeHeartbeat {
  readonly #configuration: SimulatedNodeConfiguration
  readonly #services: HeartbeatServices
  /** Whose a new Lease is. Undefined: its Lease is not what it was, and so the node may be gone. */
  #node: Node | undefined
  #lease: Lease | undefined
  /** The version of the node that was looked at last, and says what is to be said. */
  #looked: string | undefined
  #isCordoned = false

  constructor(configuration: SimulatedNodeConfiguration, services: HeartbeatServices) {
    this.#configuration = configuration
    this.#services = services
  }

  /**
   * Registers, then beats until `signal` aborts. Resolves with the node as soon as it is registered. `bootId` is given for a
   * machine that was off.
   */
  async start(signal: AbortSignal, bootId?: string): Promise<Node> {
    // As kubelets do, before the node is there: no controller can have told of the node earlier.
    this.#tell('Normal', 'Starting', 'Starting kubelet.')
    const node = await this.#register(signal, bootId)
    this.#node = node
    await this.#registerDrivers(node, signal)
    this.#announceConditions(node.status ?? {})
    if (bootId !== undefined) this.#tell('Warning', 'Rebooted', rebootedText(node, bootId))
    this.#background(this.#renewLease(signal), signal)
    this.#background(this.#postStatus(signal), signal)
    return node
  }

  #background(loop: Promise<void>, signal: AbortSignal): void {
    loop.catch((error: unknown) => {
      if (!signal.aborted) this.#services.logger.error(error, 'Heartbeat of node ended')
    })
  }

  async #register(signal: AbortSignal, bootId?: string): Promise<Node> {
    const nodes = this.#services.client.resource(resources.nodes)
    let waitMs = FIRST_RETRY_MS
    for (;;) {
      try {
        return await nodes.create(nodeObject(this.#configuration, this.#services.clock.nowMs()))
      } catch (error) {
        if (isAlreadyExists(error)) {
          try {
            return await this.#takeUp(await nodes.get(this.#configuration.name), bootId)
          } catch (failure) {
            this.#services.logger.error(failure, 'Unable to take up node with API server')
          }
        } else {
          this.#services.logger.error(error, 'Unable to register node with API server')
        }
      }
      await sleep(this.#services.clock, waitMs, signal)
      waitMs = Math.min(waitMs * 2, RETRY_LIMIT_MS)
    }
  }

  /** What storage drivers the node has, and how much of each. */
  async #registerDrivers(node: Node, signal: AbortSignal): Promise<void> {
    const csiNodes = this.#services.client.resource(resources.csinodes)
    const wanted = csiNode(node, this.#configuration.volumeLimit)
    for (;;) {
      try {
        const stored = await csiNodes.create(wanted).catch(nothingWhenItExists)
        if (stored !== undefined) return
        const known = await csiNodes.get(node.metadata?.name ?? '')
        const again = registeredAgain(known, wanted)
        if (!deepEqual(known, again)) await csiNodes.update(again)
        return
      } catch (error) {
        if (signal.aborted) throw error
        this.#services.logger.error(error, 'Unable to register drivers of node')
      }
      await sleep(this.#services.clock, FIRST_RETRY_MS, signal)
    }
  }

  /** A node that exists keeps its labels, taints and spec; only its status is renewed. */
  #takeUp(node: Node, bootId?: string): Promise<Node> {
    const nowMs = this.#services.clock.nowMs()
    const status = nodeStatus(this.#configuration, node.status, nowMs, bootId)
    return this.#patchStatus(status, node.status)
  }

  #patchStatus(status: NodeStatus, stored: NodeStatus | undefined): Promise<Node> {
    const gone = Object.fromEntries(resourcesGone(status, stored).map((name) => [name, null]))
    const allocatable = { ...status.allocatable, ...gone }
    const value = { status: { ...status, allocatable, ...replacingAddresses(status) } }
    return this.#services.client
      .resource(resources.nodes)
      .patch(this.#configuration.name, { type: 'strategic', value }, { subresource: 'status' })
  }

  #tell(type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { name } = this.#configuration
    // kubectl describe node asks for events under the node's name as its uid, as kubelets before 1.36 wrote them.
    const regarding = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } }
    this.#services.recorder.record({ regarding, type, reason, message })
  }

  /** Those that are others than before. */
  #announceConditions(status: NodeStatus, before?: NodeStatus): void {
    for (const [type, reason] of ANNOUNCED) {
      const was = findCondition(before?.conditions, type)?.status
      if (findCondition(status.conditions, type)?.status !== was) this.#announce(reason)
    }
  }

  #announce(reason: string): void {
    this.#tell('Normal', reason, `Node ${this.#configuration.name} status is now: ${reason}`)
  }

  async #postStatus(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#services
    for (;;) {
      await sleep(clock, jitter(random, STATUS_PERIOD_MS, JITTER), signal)
      await this.#renewStatus(signal)
    }
  }

  async #renewStatus(signal: AbortSignal): Promise<void> {
    const { client, clock, logger } = this.#services
    try {
      const stored = await client.resource(resources.nodes).get(this.#configuration.name)
      const status = nodeStatus(this.#configuration, stored.status, clock.nowMs())
      this.#node = await this.#patchStatus(status, stored.status)
      this.#announceConditions(status, stored.status)
    } catch (error) {
      if (!signal.aborted) logger.error(error, 'Unable to update node status')
    }
  }

  /**
   * Whether others have made something else of what is said of the node: a node that was not heard of for a while is thought dead.
   * Asked with every heartbeat: a node that is what it was takes one comparison.
   */
  #isOutdated(): boolean {
    const known = this.#services.known()
    const version = known?.metadata?.resourceVersion
    if (known === undefined || version === this.#looked) return false
    this.#tellOfCordon(known)
    const status = nodeStatus(this.#configuration, known.status, this.#services.clock.nowMs())
    if (!isSaid(status, known.status)) return true
    this.#looked = version
    return false
  }

  #tellOfCordon({ spec }: Node): void {
    const isCordoned = spec?.unschedulable === true
    if (isCordoned === this.#isCordoned) return
    this.#isCordoned = isCordoned
    this.#announce(isCordoned ? 'NodeNotSchedulable' : 'NodeSchedulable')
  }

  async #renewLease(signal: AbortSignal): Promise<void> {
    let retryMs = FIRST_LEASE_RETRY_MS
    for (;;) {
      try {
        this.#lease = await this.#writeLease()
        // The node was out of reach, and may be thought dead: that may not be known here yet.
        const wasAway = this.#lease !== undefined && retryMs > FIRST_LEASE_RETRY_MS
        if (wasAway || this.#isOutdated()) await this.#renewStatus(signal)
        retryMs = FIRST_LEASE_RETRY_MS
        const waitMs = jitter(this.#services.random, LEASE_PERIOD_MS, JITTER)
        await sleep(this.#services.clock, waitMs, signal)
      } catch (error) {
        if (signal.aborted) return
        if (isConflict(error) || isNotFound(error) || isAlreadyExists(error)) {
          if (this.#lease !== undefined) this.#node = undefined
          this.#lease = undefined
        } else this.#services.logger.error(error, 'Failed to renew node lease')
        await sleep(this.#services.clock, retryMs, signal)
        retryMs = Math.min(retryMs * 2, RETRY_LIMIT_MS)
      }
    }
  }

  /** One that is deleted may be known a little longer; one that is not known costs no request. */
  async #findNode(): Promise<Node | undefined> {
    if (this.#services.known() === undefined) return undefined
    const nodes = this.#services.client.resource(resources.nodes)
    return nodes.get(this.#configuration.name).catch(nothingWhenNotFound)
  }

  /** Undefined: it was taken away, and there is no node that it could belong to. */
  async #writeLease(): Promise<Lease | undefined> {
    const { name } = this.#configuration
    this.#node ??= await this.#findNode()
    if (this.#node === undefined) return undefined
    const leases = this.#services.client.resource(resources.leases, LEASE_NAMESPACE)
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: LEASE_DURATION_SECONDS,
      renewTime: formatMicroTime(this.#services.clock.nowMs()),
    }
    const known = this.#lease ?? (await leases.get(name).catch(nothingWhenNotFound))
    if (known !== undefined) return leases.update({ ...known, spec: { ...known.spec, ...spec } })
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: this.#node.metadata?.uid ?? '' }
    return leases.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name, namespace: LEASE_NAMESPACE, ownerReferences: [owner] },
      spec,
    })
  }
}

/** They are merged by type, of which a node of both families has two: as kubelets do, all of them are replaced. */
function replacingAddresses({ addresses }: Partial<NodeStatus>): object {
  return addresses === undefined ? {} : { addresses: [...addresses, { $patch: 'replace' }] }
}

function nothingWhenItExists(error: unknown): undefined {
  if (isAlreadyExists(error)) return undefined
  throw error
}

function rebootedText({ metadata }: Node, bootId: string): string {
  return `Node ${metadata?.name} has been rebooted, boot id: ${bootId}`
}

function nothingWhenNotFound(error: unknown): undefined {
  if (isNotFound(error)) return undefined
  throw error
}
