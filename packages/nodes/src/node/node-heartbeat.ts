/** Keeps a simulated node known: registration, Lease, status. Contract: docs/behaviour/simulation/kubelet.md, Heartbeats. */
import { deepEqual, resources } from '@gyropilot/api'
import type { Lease, Node, NodeStatus } from '@gyropilot/api'
import { isAlreadyExists, isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { formatMicroTime, jitter, sleep } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'
import { nodeObject, nodeStatus } from './node-object.ts'
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

interface HeartbeatServices {
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly recorder: EventRecorder
}

export class NodeHeartbeat {
  readonly #configuration: SimulatedNodeConfiguration
  readonly #services: HeartbeatServices
  #node: Node | undefined
  #lease: Lease | undefined

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
    this.#announceConditions()
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
    return this.#patchStatus(status)
  }

  #patchStatus(status: Partial<NodeStatus>): Promise<Node> {
    return this.#services.client
      .resource(resources.nodes)
      .patch(
        this.#configuration.name,
        { type: 'strategic', value: { status: { ...status, ...replacingAddresses(status) } } },
        { subresource: 'status' },
      )
  }

  #tell(type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { name } = this.#configuration
    // kubectl describe node asks for events under the node's name as its uid, as kubelets before 1.36 wrote them.
    const regarding = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } }
    this.#services.recorder.record({ regarding, type, reason, message })
  }

  #announceConditions(): void {
    const { name } = this.#configuration
    for (const reason of [
      'NodeHasSufficientMemory',
      'NodeHasNoDiskPressure',
      'NodeHasSufficientPID',
      'NodeReady',
    ]) {
      this.#tell('Normal', reason, `Node ${name} status is now: ${reason}`)
    }
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
      this.#node = await this.#patchStatus(status)
    } catch (error) {
      if (!signal.aborted) logger.error(error, 'Unable to update node status')
    }
  }

  async #renewLease(signal: AbortSignal): Promise<void> {
    let retryMs = FIRST_LEASE_RETRY_MS
    for (;;) {
      try {
        this.#lease = await this.#writeLease()
        // The node was out of reach, and may be thought dead.
        if (retryMs > FIRST_LEASE_RETRY_MS) await this.#renewStatus(signal)
        retryMs = FIRST_LEASE_RETRY_MS
        const waitMs = jitter(this.#services.random, LEASE_PERIOD_MS, JITTER)
        await sleep(this.#services.clock, waitMs, signal)
      } catch (error) {
        if (signal.aborted) return
        if (isConflict(error) || isNotFound(error) || isAlreadyExists(error))
          this.#lease = undefined
        else this.#services.logger.error(error, 'Failed to renew node lease')
        await sleep(this.#services.clock, retryMs, signal)
        retryMs = Math.min(retryMs * 2, RETRY_LIMIT_MS)
      }
    }
  }

  async #writeLease(): Promise<Lease> {
    const { name } = this.#configuration
    const leases = this.#services.client.resource(resources.leases, LEASE_NAMESPACE)
    const spec = {
      holderIdentity: name,
      leaseDurationSeconds: LEASE_DURATION_SECONDS,
      renewTime: formatMicroTime(this.#services.clock.nowMs()),
    }
    const known = this.#lease ?? (await leases.get(name).catch(nothingWhenNotFound))
    if (known !== undefined) return leases.update({ ...known, spec: { ...known.spec, ...spec } })
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid: this.#node?.metadata?.uid ?? '' }
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
