/**
 * Devices for pods: which nodes have them, what is promised and not written yet, and the writes before a pod is bound.
 * Contract: docs/behaviour/simulation/scheduler.md, Devices.
 */
import {
  isClaimFor,
  isReservedFor,
  isTerminating,
  keyOf,
  resources,
  resourcesOnRequest,
} from '@gyropilot/api'
import type {
  AllocationResult,
  ContainerExtendedResourceRequest,
  DeviceClass,
  DeviceTaintRule,
  Node,
  Pod,
  ResourceClaim,
  ResourceSlice,
} from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { errorText, uuid } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown, lastStateOf } from '@gyropilot/runtime'
import type { InformerFactory, Lister } from '@gyropilot/runtime'
import { FilterError } from '../filters/filter-error.ts'
import type { NamedFilter, ServedByDevices } from '../filters/index.ts'
import type { NodeFilter } from '../filters/node-filter.ts'
import { CLAIMS_STAY, CLAIM_DELETED, CLAIM_GIVEN_BACK, NO_CLAIMS } from '../message.ts'
import type { NodeVerdict } from '../message.ts'
import type { NodeInfo } from '../node-info.ts'
import { allocate } from './allocate.ts'
import { AllocationError } from './allocation-error.ts'
import { ClaimWrites, isReady } from './claim-writes.ts'
import { closedPools } from './closed-pools.ts'
import type { ClosedPool } from './closed-pools.ts'
import { devicesByNode, publishedDevices } from './device-pools.ts'
import type { PublishedDevice } from './device-pools.ts'
import {
  classesOfResources,
  extendedClaim,
  isCountedBy,
  isExtendedClaim,
  promiseKey,
  servedResources,
} from './extended-resources.ts'
import type { ClassOfResource, ExtendedClaim } from './extended-resources.ts'
import { usedBy } from './in-use.ts'
import type { InUse } from './in-use.ts'
import { claimsOfPod, deviceProblem, isAvailableOn, usesDevices } from './pod-claims.ts'
import type { DeviceListers } from './pod-claims.ts'
import { Selectors } from './selectors.ts'
import { withRuleTaints } from './taint-rules.ts'

interface DeviceClaimsOptions {
  readonly client: Client
  readonly informers: InformerFactory
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly featureGates?: Readonly<Record<string, boolean>> | undefined
}

/** Chosen and not seen in the cache yet. */
interface Promised {
  claim: ResourceClaim
  readonly podUid: string
  readonly allocation: AllocationResult
  /** Of the claim for extended resources, which is made only when the pod is bound. */
  readonly mappings: readonly ContainerExtendedResourceRequest[] | undefined
  isWritten: boolean
}

interface ChosenWith {
  readonly claim: ResourceClaim
  /** What the node's devices give; undefined: the claim had an allocation. */
  readonly allocation: AllocationResult | undefined
}

const CANNOT_ALLOCATE = 'cannot allocate all claims'
const NOT_ON_NODE = 'resourceclaim not available on the node'
const INVALID_POOLS = 'invalid resource pools were encountered'
const LEFT_OVER = 'cannot schedule extended resource claim'
const NONE: readonly string[] = []

/** The pod's claims could not be made ready for it; the message is what is said of it. */
export class PreBindError extends Error {}

export class DeviceClaims {
  readonly filter: NamedFilter = {
    name: 'DynamicResources',
    filter: (pod) => this.#nodeFilter(pod),
    curable: false,
  }
  /** Extended resources that a node does not count are judged here. */
  readonly isServed: ServedByDevices = (info, resource) =>
    !isCountedBy(info, resource) && this.#classOf(resource) !== undefined
  readonly #listers: DeviceListers
  readonly #claims: Lister<ResourceClaim>
  readonly #slices: Lister<ResourceSlice>
  readonly #classes: Lister<DeviceClass>
  /** Undefined: nobody looks at rules. */
  readonly #taintRules: Lister<DeviceTaintRule> | undefined
  readonly #writes: ClaimWrites
  readonly #logger: Logger
  readonly #shareIds: RandomSource
  readonly #selectors = new Selectors()
  /** By `promiseKey`. */
  readonly #promised = new Map<string, Promised>()
  /** Pods that are tried together, by uid: what one of them is promised the others may use with it. */
  #together: ReadonlySet<string> = new Set()
  /** The claims of pods that are being bound, by the uid of the pod, as they were when its node was chosen. */
  readonly #chosenWith = new Map<string, readonly ChosenWith[]>()
  #devicesOf: ((node: Node) => readonly PublishedDevice[]) | undefined
  #closedPoolsOf: ((node: Node) => readonly ClosedPool[]) | undefined
  #classOfResource: ClassOfResource | undefined
  #allocated: InUse | undefined

  /** `onChange`: something came that may help a pod that waits. */
  constructor(
    { client, informers, clock, random, logger, featureGates = {} }: DeviceClaimsOptions,
    onChange: () => void,
  ) {
    const claims = informers.informer(resources.resourceclaims)
    const slices = informers.informer(resources.resourceslices)
    const classes = informers.informer(resources.deviceclasses)
    this.#claims = claims.lister
    this.#slices = slices.lister
    this.#classes = classes.lister
    this.#listers = { claims: claims.lister, classes: classes.lister }
    this.#writes = new ClaimWrites(client, clock)
    this.#logger = logger
    this.#shareIds = random.fork('shares')
    const claimChanged = (claim: ResourceClaim): void => {
      this.#allocated = undefined
      if (claim.status?.allocation !== undefined) this.#promised.delete(promiseKey(claim))
      onChange()
    }
    const slicesChanged = (): void => {
      this.#devicesOf = undefined
      this.#closedPoolsOf = undefined
      onChange()
    }
    claims.addHandler({
      onAdd: claimChanged,
      onUpdate: (_, claim) => claimChanged(claim),
      onDelete: (gone) => {
        this.#allocated = undefined
        const claim = lastStateOf(gone)
        if (claim !== undefined) this.#promised.delete(promiseKey(claim))
        else if (gone instanceof DeletedFinalStateUnknown) this.#promised.delete(gone.key)
        onChange()
      },
    })
    slices.addHandler({ onAdd: slicesChanged, onUpdate: slicesChanged, onDelete: slicesChanged })
    if (featureGates['DRADeviceTaintRules'] === true) {
      const rules = informers.informer(resourcesOnRequest.devicetaintrules)
      rules.addHandler({ onAdd: slicesChanged, onUpdate: slicesChanged, onDelete: slicesChanged })
      this.#taintRules = rules.lister
    }
    const classesChanged = (): void => {
      this.#classOfResource = undefined
      onChange()
    }
    classes.addHandler({
      onAdd: classesChanged,
      onUpdate: classesChanged,
      onDelete: classesChanged,
    })
  }

  /** A claim of the pod has yet to be made: it is not tried, and nothing is said of it. */
  isWaiting(pod: Pod): boolean {
    return usesDevices(pod) && claimsOfPod(pod, this.#listers) === 'waiting'
  }

  /** Why no node at all can take the pod. */
  problem(pod: Pod): string | undefined {
    if (!usesDevices(pod)) return undefined
    const claims = this.#claimsOf(pod)
    const beingAllocated = claims.find(
      (claim) => this.#promised.has(keyOf(claim)) && claim.status?.allocation === undefined,
    )
    if (beingAllocated !== undefined)
      return `resource claim ${keyOf(beingAllocated)} is in the process of being allocated`
    return deviceProblem(pod, claims, this.#listers)
  }

  #claimsOf(pod: Pod): readonly ResourceClaim[] {
    const claims = claimsOfPod(pod, this.#listers)
    if (claims === 'waiting') return []
    return this.#together.size === 0 ? claims : claims.map((claim) => this.#asPromised(claim))
  }

  #asPromised(claim: ResourceClaim): ResourceClaim {
    const promised = this.#promised.get(keyOf(claim))
    if (promised === undefined || !this.#together.has(promised.podUid)) return claim
    return { ...claim, status: { ...claim.status, allocation: promised.allocation } }
  }

  /** Until the next call these pods are tried together. */
  together(pods: readonly Pod[]): void {
    this.#together = new Set(pods.map(({ metadata }) => metadata?.uid ?? ''))
  }

  #classOf(resource: string): DeviceClass | undefined {
    this.#classOfResource ??= classesOfResources(this.#classes.list())
    return this.#classOfResource(resource)
  }

  #servedOf(pod: Pod): readonly string[] {
    return servedResources(pod, (resource) => this.#classOf(resource))
  }

  /** Made for an earlier try of the pod. */
  #leftOver(pod: Pod): ResourceClaim | undefined {
    const claims = this.#claims.list(pod.metadata?.namespace)
    return claims.find((claim) => isExtendedClaim(claim) && isClaimFor(claim, pod))
  }

  /** What devices serve there; undefined: the node counts all that the pod asks for. */
  #extendedOn(
    info: NodeInfo,
    pod: Pod,
    served: readonly string[] = this.#servedOf(pod),
  ): ExtendedClaim | undefined {
    const here = served.filter((resource) => !isCountedBy(info, resource))
    if (here.length === 0) return undefined
    return extendedClaim(pod, here, (resource) => this.#classOf(resource))
  }

  #nodeFilter(pod: Pod): NodeFilter | undefined {
    const served = this.#servedOf(pod)
    const claims = usesDevices(pod) ? this.#claimsOf(pod) : []
    if (claims.length === 0 && served.length === 0) return undefined
    const leftOver = served.length === 0 ? undefined : this.#leftOver(pod)
    return (info) => {
      const isElsewhere = claims.some(
        ({ status }) => status?.allocation && !isAvailableOn(status.allocation, info.node!),
      )
      if (isElsewhere) return [NOT_ON_NODE]
      const extended = this.#extendedOn(info, pod, served)
      if (extended !== undefined && leftOver !== undefined) return [LEFT_OVER]
      if (this.#canServe(claims, extended, info)) return NONE
      const isInvalid = this.#closedPoolsOn(info.node!).some(({ state }) => state === 'invalid')
      return [isInvalid ? INVALID_POOLS : CANNOT_ALLOCATE]
    }
  }

  #canServe(
    claims: readonly ResourceClaim[],
    extended: ExtendedClaim | undefined,
    info: NodeInfo,
  ): boolean {
    try {
      return this.#allocate(extended ? [...claims, extended.claim] : claims, info) !== undefined
    } catch (error) {
      if (!(error instanceof AllocationError)) throw error
      const text = `running "DynamicResources" filter plugin: ${error.message}`
      throw new FilterError(text, { cause: error })
    }
  }

  /** Of the claims that have none yet. */
  #allocate(
    claims: readonly ResourceClaim[],
    { node }: NodeInfo,
  ): ReadonlyMap<ResourceClaim, AllocationResult> | undefined {
    const open = claims.filter(({ status }) => status?.allocation === undefined)
    if (open.length === 0) return new Map()
    const results = allocate(open, {
      devices: this.#devicesOn(node!),
      closedPools: this.#closedPoolsOn(node!),
      ...this.#inUse(),
      newShareId: () => uuid(this.#shareIds),
      classes: (name) => this.#listers.classes.get(undefined, name),
      selectors: this.#selectors,
    })
    return results && new Map(results.map((result, at) => [open[at]!, result]))
  }

  #devicesOn(node: Node): readonly PublishedDevice[] {
    this.#devicesOf ??= devicesByNode(
      withRuleTaints(publishedDevices(this.#slices.list()), this.#taintRules?.list() ?? []),
    )
    const devices = this.#devicesOf(node)
    const closed = new Set(this.#closedPoolsOn(node).map(({ id }) => id))
    if (closed.size === 0) return devices
    return devices.filter(({ driver, pool }) => !closed.has(`${driver}/${pool}`))
  }

  #closedPoolsOn(node: Node): readonly ClosedPool[] {
    this.#closedPoolsOf ??= closedPools(this.#slices.list())
    return this.#closedPoolsOf(node)
  }

  #inUse(): InUse {
    this.#allocated ??= usedBy(this.#claims.list().map(({ status }) => status?.allocation))
    if (this.#promised.size === 0) return this.#allocated
    const promised = [...this.#promised.values()].map(({ allocation }) => allocation)
    return usedBy(promised, this.#allocated)
  }

  /** The pod goes to this node, where its claims can be served. */
  promise(pod: Pod, info: NodeInfo): void {
    const claims = usesDevices(pod) ? this.#claimsOf(pod) : []
    const extended = this.#extendedOn(info, pod)
    if (claims.length === 0 && extended === undefined) return
    const podUid = pod.metadata?.uid ?? ''
    const all = extended ? [...claims, extended.claim] : claims
    const allocations = this.#allocate(all, info) ?? new Map<ResourceClaim, AllocationResult>()
    const chosenWith = claims.map((claim) => ({ claim, allocation: allocations.get(claim) }))
    this.#chosenWith.set(podUid, chosenWith)
    for (const [claim, allocation] of allocations) {
      const mappings = claim === extended?.claim ? extended.mappings : undefined
      const promised = { claim, podUid, allocation, mappings, isWritten: false }
      this.#promised.set(promiseKey(claim), promised)
    }
  }

  /** The pod does not go there after all; nothing was written yet. */
  takeBack(pod: Pod): void {
    const uid = pod.metadata?.uid ?? ''
    this.#chosenWith.delete(uid)
    for (const [key, { podUid }] of this.#promised) if (podUid === uid) this.#promised.delete(key)
  }

  /** The pod's node is told before its binding: a claim is not the pod's yet, or might have to be made, be it not on this node. */
  isNominating(pod: Pod): boolean {
    const claims = usesDevices(pod) ? this.#claimsOf(pod) : []
    return claims.some((claim) => !isReservedFor(claim, pod)) || this.#servedOf(pod).length > 0
  }

  /** Before the pod is bound: its claims are allocated and reserved for it. Answers them. Rejects with PreBindError. */
  async bind(pod: Pod): Promise<readonly ResourceClaim[]> {
    try {
      return await this.#bind(pod)
    } catch (error) {
      throw preBindError(error)
    } finally {
      this.#chosenWith.delete(pod.metadata?.uid ?? '')
    }
  }

  /** When the devices of the pod's claims are ready; undefined: they are. Rejects with PreBindError, or as `signal` aborts. */
  whenReady(claims: readonly ResourceClaim[], signal: AbortSignal): Promise<void> | undefined {
    if (claims.every(isReady)) return undefined
    const latest = (claim: ResourceClaim) => this.#claims.getByKey(keyOf(claim))
    return this.#writes.whenReady(claims, latest, signal).catch((error: unknown) => {
      throw signal.aborted ? error : preBindError(error)
    })
  }

  async #bind(pod: Pod): Promise<readonly ResourceClaim[]> {
    const taken: ResourceClaim[] = []
    for (const chosenWith of this.#chosenWith.get(pod.metadata?.uid ?? '') ?? [])
      taken.push(await this.#take(chosenWith, pod, this.#promised.get(keyOf(chosenWith.claim))))
    const extended = this.#promised.get(pod.metadata?.uid ?? '')
    if (extended?.mappings === undefined) return taken
    extended.claim = await this.#writes.createExtended(extended.claim)
    taken.push(await this.#take(extended, pod, extended))
    await this.#writes.recordExtended(pod, extended.claim, extended.mappings)
    return taken
  }

  /** That somebody else allocated it meanwhile ends the promise, not what the node was chosen with. */
  async #take(
    { claim, allocation }: ChosenWith,
    pod: Pod,
    promised: Promised | undefined,
  ): Promise<ResourceClaim> {
    const latest = this.#claims.getByKey(keyOf(claim))
    const taken = await this.#writes.take(claim, pod, allocation, latest)
    if (promised?.podUid === pod.metadata?.uid) promised!.isWritten = true
    return taken
  }

  /** Nothing comes of it. Allocations that are written are in the cache soon, and serve the next try; what was made for this try goes. */
  release(pod: Pod): void {
    const claims = usesDevices(pod) ? this.#claimsOf(pod) : []
    const reserved = claims.filter(
      (claim) =>
        claim.status?.allocation !== undefined || this.#promised.get(keyOf(claim))?.isWritten,
    )
    this.#chosenWith.delete(pod.metadata?.uid ?? '')
    const own = this.#promised.get(pod.metadata?.uid ?? '')
    const made = own?.claim.metadata?.uid === undefined ? undefined : own.claim
    const leftOver = made ?? (this.#servedOf(pod).length > 0 ? this.#leftOver(pod) : undefined)
    this.#undo(pod, reserved, leftOver)
    for (const [key, { podUid, isWritten }] of this.#promised)
      if (podUid === pod.metadata?.uid && !isWritten) this.#promised.delete(key)
  }

  #undo(pod: Pod, reserved: readonly ResourceClaim[], extended: ResourceClaim | undefined): void {
    this.#writes.undo(pod, reserved, extended).catch((error: unknown) => {
      const text = errorText(error)
      this.#logger.info('Claims could not be given up', { pod: keyOf(pod), error: text })
    })
  }

  /** No node fits. Devices that nobody else uses and that hold the pod elsewhere are given back. Answers what to say of it. */
  reconsider(pod: Pod, verdicts: readonly NodeVerdict[]): string {
    const served = this.#servedOf(pod)
    if (!usesDevices(pod) && served.length === 0) return NO_CLAIMS
    const leftOver = served.length === 0 ? undefined : this.#leftOver(pod)
    if (leftOver !== undefined) {
      if (!isTerminating(leftOver)) this.#undo(pod, [], leftOver)
      return CLAIM_DELETED
    }
    if (!verdicts.some(({ reasons }) => reasons.includes(NOT_ON_NODE))) return CLAIMS_STAY
    for (const claim of this.#claimsOf(pod)) {
      const { allocation, reservedFor = [] } = claim.status ?? {}
      const isOnlyOurs =
        reservedFor.length === 0 || (reservedFor.length === 1 && isReservedFor(claim, pod))
      // Promised to a pod that is tried with this one: not allocated yet.
      const isPromised = this.#promised.has(keyOf(claim))
      if (allocation === undefined || !isOnlyOurs || isPromised) continue
      this.#writes.giveBack(claim).catch((error: unknown) => {
        const text = errorText(error)
        this.#logger.info('Devices could not be given back', { claim: keyOf(claim), error: text })
      })
      return CLAIM_GIVEN_BACK
    }
    return CLAIMS_STAY
  }
}

function preBindError(cause: unknown): PreBindError {
  return new PreBindError(`running PreBind plugin "DynamicResources": ${errorText(cause)}`, {
    cause,
  })
}
