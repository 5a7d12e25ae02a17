/**
 * Nodes without machines: each registers, beats, and takes its pods through their lives. All nodes of one process share the
 * informers, so that a thousand idle nodes cost their Leases and nothing else. Contract: docs/behaviour/simulation/kubelet.md.
 */
import { resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { uuid } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { lastStateOf, yieldIfLong } from '@gyropilot/runtime'
import type { EventRecorder, Informer, InformerFactory } from '@gyropilot/runtime'
import { refusalOf } from '../capacity/admission.ts'
import { DEFAULT_BEHAVIOR, behaviorOf } from '../behavior/behavior.ts'
import type { BehaviorDefaults } from '../behavior/behavior.ts'
import { DeviceDriver } from '../devices/device-driver.ts'
import type { Dial, Secure } from '../answers/port-answers.ts'
import { ClusterNetwork } from '../network/cluster-network.ts'
import { SharedLoads } from '../endpoints/shared-loads.ts'
import { SimulatedKubelet } from '../endpoints/simulated-kubelet.ts'
import { DEFAULT_IMAGE_RULES } from '../behavior/image.ts'
import type { ImageRules } from '../behavior/image.ts'
import { PodAddresses } from '../capacity/pod-addresses.ts'
import { MachineSwitch } from './machine-switch.ts'
import { NodeRoom } from '../capacity/node-room.ts'
import { NodeHeartbeat } from './node-heartbeat.ts'
import type { SimulatedNodeConfiguration } from './node-object.ts'
import { PodReferences } from '../pod/pod-references.ts'
import { NodeVolumes } from '../storage/node-volumes.ts'
import { VolumeData } from '../storage/volume-data.ts'
import { VolumeSources } from '../storage/volume-sources.ts'
import { PodWorker } from '../pod/pod-worker.ts'
import type { NodeServices } from '../pod/node-services.ts'

/** Pods by the node that they are bound to. */
const NODE_INDEX = 'spec.nodeName'
const STARTED_TOGETHER = 16
/** Of an event. */
const MOST_MESSAGE_CHARS = 1_024

export interface SimulatedNodesOptions {
  readonly nodes: readonly SimulatedNodeConfiguration[]
  readonly client: Client
  readonly informers: InformerFactory
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** Events with source component `kubelet` and the node as host. */
  recorderOf(nodeName: string): EventRecorder
  readonly behavior?: BehaviorDefaults
  readonly imageRules?: ImageRules
  /** Connects ports of pods to programs outside, where an annotation asks for it. Absent: never. */
  readonly dial?: Dial
  /** Speaks TLS for programs that have a certificate. Absent: they speak in plain text. */
  readonly secure?: Secure
  /** Who answers for a node; those of other processes too. Default: these nodes alone. */
  readonly kubeletOf?: (nodeName: string) => SimulatedKubelet | undefined
  /** For nodes whose informers know their own pods alone: who shares a load, kept by who knows all pods. */
  readonly loads?: SharedLoads
  /** What is written on volumes. Default: known to these nodes alone. */
  readonly volumeData?: VolumeData
}

interface RunningNode {
  readonly services: NodeServices
  readonly workers: Map<string, PodWorker>
  readonly kubelet: SimulatedKubelet
}

export class SimulatedNodes {
  readonly #options: SimulatedNodesOptions
  readonly #pods: Informer<Pod>
  readonly #nodes: Informer<Node>
  readonly #running = new Map<string, RunningNode>()
  readonly #switches = new Map<string, MachineSwitch>()
  /** Kept here unless it was handed in. */
  readonly #ownLoads = new SharedLoads()
  readonly #volumeData: VolumeData
  readonly #driver: DeviceDriver
  readonly #network: ClusterNetwork

  constructor(options: SimulatedNodesOptions) {
    this.#options = options
    this.#volumeData = options.volumeData ?? new VolumeData()
    this.#pods = options.informers.informer(resources.pods)
    this.#pods.addIndex(NODE_INDEX, ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []))
    this.#nodes = options.informers.informer(resources.nodes)
    this.#nodes.addHandler({
      onAdd: (node) => this.#seen(node),
      onUpdate: (_, node) => this.#seen(node),
    })
    this.#driver = new DeviceDriver(options)
    const { client, clock, kubeletOf = (name: string) => this.kubeletOf(name) } = options
    this.#network = new ClusterNetwork({
      client,
      clock,
      random: options.random.fork('network'),
      forward: (pod, port, streams) =>
        kubeletOf(pod.spec?.nodeName ?? '')?.forward(pod, port, streams),
      datagram: (pod, asked) => kubeletOf(pod.spec?.nodeName ?? '')?.datagram(pod, asked),
      zone: (pod) => kubeletOf(pod.spec?.nodeName ?? '')?.zone(pod),
    })
    this.#pods.addHandler({
      onAdd: (pod) => this.#changed(pod),
      onUpdate: (before, pod) => {
        if (before.metadata?.uid !== pod.metadata?.uid) this.#removed(before)
        this.#changed(pod)
      },
      onDelete: (gone) => {
        const pod = lastStateOf(gone)
        if (pod !== undefined) this.#removed(pod)
      },
    })
  }

  /** Registers all nodes and takes up their pods; resolves when every node is registered. The informers must be started. */
  async start(signal: AbortSignal): Promise<void> {
    this.#publishDevices(signal)
    // So many at a time: each registers in a few requests, and others have theirs in between.
    const waiting = this.#options.nodes.values()
    const sources = new VolumeSources(this.#options.informers, signal)
    const startNext = async (): Promise<void> => {
      for (const node of waiting) {
        await this.#switchOn(node, sources, signal)
        await yieldIfLong(this.#options.clock)
      }
    }
    await Promise.all(Array.from({ length: STARTED_TOGETHER }, startNext))
  }

  /** Of the nodes that run here. */
  #publishDevices(signal: AbortSignal): void {
    const own = new Set(this.#options.nodes.map(({ name }) => name))
    const observe = (before: Node | undefined, node: Node): void => {
      if (own.has(node.metadata?.name ?? '')) this.#driver.observe(before, node, signal)
    }
    const registration = this.#nodes.addHandler({
      onAdd: (node) => observe(undefined, node),
      onUpdate: observe,
    })
    signal.addEventListener('abort', () => registration.remove(), { once: true })
  }

  /** Starts the node, unless its machine is off: then, and at every later change, as its switch says. */
  async #switchOn(
    configuration: SimulatedNodeConfiguration,
    sources: VolumeSources,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock, logger } = this.#options
    const { name } = configuration
    const power = new MachineSwitch({
      clock,
      turnOn: (life, wasOff) => this.#startNode(configuration, sources, life, wasOff),
      turnOff: () => this.#stopNode(name),
      failed: (error) => logger.error(error, 'The node could not be started', { node: name }),
      complain: (problem) => this.#complain(configuration.name, problem),
    })
    this.#switches.set(name, power)
    signal.addEventListener('abort', () => power.stop(), { once: true })
    const known = this.#nodes.lister.get(undefined, name)
    if (known !== undefined) power.read(known)
    await power.start()
  }

  #complain(nodeName: string, problem: string): void {
    const { logger, recorderOf } = this.#options
    logger.info(problem, { node: nodeName })
    const message = problem.slice(0, MOST_MESSAGE_CHARS)
    const metadata = { name: nodeName, uid: nodeName }
    const regarding = { apiVersion: 'v1', kind: 'Node', metadata }
    const reason = 'AnnotationIgnored'
    recorderOf(nodeName).record({ regarding, type: 'Warning', reason, message })
  }

  async #startNode(
    configuration: SimulatedNodeConfiguration,
    sources: VolumeSources,
    signal: AbortSignal,
    wasOff: boolean,
  ): Promise<void> {
    const { client, clock, logger, recorderOf } = this.#options
    const random = this.#options.random.fork(`node/${configuration.name}`)
    const recorder = recorderOf(configuration.name)
    const known = (): Node | undefined => this.#nodes.lister.get(undefined, configuration.name)
    const own = { client, clock, random, logger, recorder, known }
    const heartbeat = new NodeHeartbeat(configuration, own)
    const node = await heartbeat.start(signal, wasOff ? uuid(random.fork('boot')) : undefined)
    if (signal.aborted) return
    const volumes = new NodeVolumes({
      nodeName: configuration.name,
      client,
      clock,
      logger,
      recorder,
      sources,
      data: this.#volumeData,
      node: known,
    })
    const workers = new Map<string, PodWorker>()
    const services: NodeServices = {
      nodeName: configuration.name,
      hostIps: configuration.hostIps,
      addresses: new PodAddresses(),
      wasOff,
      client,
      clock,
      random,
      logger,
      recorder,
      imageRules: this.#options.imageRules ?? DEFAULT_IMAGE_RULES,
      references: new PodReferences(client, clock),
      network: this.#network,
      volumes,
      room: new NodeRoom(workers, known),
      lifetime: signal,
    }
    const { dial, secure, loads = this.#ownLoads } = this.#options
    const kubelet = new SimulatedKubelet(services, workers, loads, { dial, secure })
    this.#running.set(configuration.name, { services, workers, kubelet })
    this.#seen(node)
    const cached = known()
    if (cached !== undefined) this.#seen(cached)
    const pods = this.#pods.lister.byIndex(NODE_INDEX, configuration.name)
    for (const pod of pods.toSorted(byCreation)) this.#changed(pod)
    volumes.begin(signal)
  }

  /** Logs, commands, ports and usage of a node that runs here. */
  kubeletOf(nodeName: string): SimulatedKubelet | undefined {
    return this.#running.get(nodeName)?.kubelet
  }

  #stopNode(name: string): void {
    for (const worker of this.#running.get(name)?.workers.values() ?? []) worker.stop()
    this.#running.delete(name)
  }

  /** A node gets its pod range some time after it was registered, and its machine may be switched off. */
  #seen(node: Node): void {
    const { metadata, spec } = node
    this.#switches.get(metadata?.name ?? '')?.read(node)
    const { podCIDR = '', podCIDRs = [podCIDR] } = spec ?? {}
    if (podCIDR === '') return
    this.#running.get(metadata?.name ?? '')?.services.addresses.learn(podCIDRs)
  }

  #changed(pod: Pod): void {
    this.#ownLoads.seen(pod)
    const node = this.#running.get(pod.spec?.nodeName ?? '')
    if (node === undefined) return
    const uid = pod.metadata?.uid ?? ''
    const known = node.workers.get(uid)
    if (known !== undefined) known.update(pod)
    else this.#begin(node, uid, pod)
  }

  #begin(node: RunningNode, uid: string, pod: Pod): void {
    const { behavior = DEFAULT_BEHAVIOR, logger } = this.#options
    const seenBefore = pod.status?.startTime !== undefined
    const report = (problem: string): void => {
      logger.info(problem, { pod: `${pod.metadata?.namespace}/${pod.metadata?.name}` })
      if (seenBefore) return
      const message = problem.slice(0, MOST_MESSAGE_CHARS)
      const reason = 'AnnotationIgnored'
      node.services.recorder.record({ regarding: pod, type: 'Warning', reason, message })
    }
    const plan = behaviorOf(pod, behavior, report)
    const worker = new PodWorker(pod, plan, node.services, () => node.workers.delete(uid))
    const refusal = this.#refusal(node, pod, plan.admission)
    node.workers.set(uid, worker)
    if (refusal === undefined) worker.start()
    else worker.reject(refusal.reason, refusal.message)
  }

  #refusal(
    node: RunningNode,
    pod: Pod,
    scripted: { readonly reason: string; readonly message: string } | undefined,
  ) {
    const admittedBefore = pod.status?.startTime !== undefined
    if (admittedBefore || pod.metadata?.deletionTimestamp !== undefined) return undefined
    if (scripted !== undefined) return scripted
    const object = this.#nodes.lister.get(undefined, node.services.nodeName)
    const active = [...node.workers.values()].filter((worker) => !worker.done)
    return refusalOf(pod, object, active)
  }

  #removed(pod: Pod): void {
    this.#ownLoads.gone(pod)
    this.#running
      .get(pod.spec?.nodeName ?? '')
      ?.workers.get(pod.metadata?.uid ?? '')
      ?.gone()
  }
}

function byCreation(a: Pod, b: Pod): number {
  const left = `${a.metadata?.creationTimestamp}/${a.metadata?.name}`
  const right = `${b.metadata?.creationTimestamp}/${b.metadata?.name}`
  return left < right ? -1 : left > right ? 1 : 0
}
