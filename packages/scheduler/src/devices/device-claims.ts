/**
 * Devices for pods: which nodes have them, what is promised and not written yet, and the writes before a pod is bound.
 * Contract: docs/behaviour/simulation/scheduler.md, Devices.
 */
import { isReservedFor, keyOf, resources } from '@gyropilot/api'
import type { AllocationResult, Node, Pod, ResourceClaim, ResourceSlice } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { errorText, uuid } from '@gyropilot/foundation'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { InformerFactory, Lister } from '@gyropilot/runtime'
import type { NamedFilter, NodeFilter } from '../filters/index.ts'
import { CLAIMS_STAY, CLAIM_GIVEN_BACK, NO_CLAIMS } from '../message.ts'
import type { NodeVerdict } from '../message.ts'
import type { NodeInfo } from '../node-info.ts'
import { allocate } from './allocate.ts'
import { ClaimWrites } from './claim-writes.ts'
import { deviceKey, devicesByNode, publishedDevices } from './device-pools.ts'
import type { PublishedDevice } from './device-pools.ts'
import { claimsOfPod, deviceProblem, isAvailableOn, usesDevices } from './pod-claims.ts'
import type { DeviceListers } from './pod-claims.ts'
import { SelectorError, Selectors } from './selectors.ts'
import { added, isShare } from './shared-capacity.ts'
import type { Consumption } from './shared-capacity.ts'

export interface DeviceClaimsOptions {
  readonly client: Client
  readonly informers: InformerFactory
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
}

/** Chosen and not seen in the cache yet. */
interface Promised {
  readonly claim: ResourceClaim
  readonly podUid: string
  readonly allocation: AllocationResult
  isWritten: boolean
}

const CANNOT_ALLOCATE = 'cannot allocate all claims'
const NOT_ON_NODE = 'resourceclaim not available on the node'
const NONE: readonly string[] = []

/** What nobody else can have meanwhile: whole devices, and parts of shared ones. */
interface InUse {
  readonly taken: ReadonlySet<string>
  readonly shares: ReadonlyMap<string, Consumption>
}

export class DeviceClaims {
  readonly filter: NamedFilter = {
    name: 'DynamicResources',
    filter: (pod) => this.#nodeFilter(pod),
    curable: false,
  }
  readonly #listers: DeviceListers
  readonly #claims: Lister<ResourceClaim>
  readonly #slices: Lister<ResourceSlice>
  readonly #writes: ClaimWrites
  readonly #logger: Logger
  readonly #shareIds: RandomSource
  readonly #selectors = new Selectors()
  /** By `namespace/name` of the claim. */
  readonly #promised = new Map<string, Promised>()
  #devicesOf: ((node: Node) => readonly PublishedDevice[]) | undefined
  #allocated: InUse | undefined
  #failedSelector: { readonly podUid: string; readonly text: string } | undefined

  /** `onChange`: something came that may help a pod that waits. */
  constructor(
    { client, informers, clock, random, logger }: DeviceClaimsOptions,
    onChange: () => void,
  ) {
    const claims = informers.informer(resources.resourceclaims)
    const slices = informers.informer(resources.resourceslices)
    const classes = informers.informer(resources.deviceclasses)
    this.#claims = claims.lister
    this.#slices = slices.lister
    this.#listers = { claims: claims.lister, classes: classes.lister }
    this.#writes = new ClaimWrites(client, clock)
    this.#logger = logger
    this.#shareIds = random.fork('shares')
    const claimChanged = (claim: ResourceClaim): void => {
      this.#allocated = undefined
      const key = keyOf(claim)
      if (claim.status?.allocation !== undefined) this.#promised.delete(key)
      onChange()
    }
    const slicesChanged = (): void => {
      this.#devicesOf = undefined
      onChange()
    }
    claims.addHandler({
      onAdd: claimChanged,
      onUpdate: (_, claim) => claimChanged(claim),
      onDelete: (gone) => {
        this.#allocated = undefined
        this.#promised.delete(gone instanceof DeletedFinalStateUnknown ? gone.key : keyOf(gone))
        onChange()
      },
    })
    slices.addHandler({ onAdd: slicesChanged, onUpdate: slicesChanged, onDelete: slicesChanged })
    classes.addHandler({ onAdd: onChange, onUpdate: onChange })
  }

  /** A claim of the pod has yet to be made: it is not tried, and nothing is said of it. */
  isWaiting(pod: Pod): boolean {
    return usesDevices(pod) && claimsOfPod(pod, this.#listers) === 'waiting'
  }

  /** Why no node at all can take the pod. */
  problem(pod: Pod): string | undefined {
    if (!usesDevices(pod)) return undefined
    const claims = this.#claimsOf(pod)
    const beingAllocated = claims.find((claim) => this.#promised.has(keyOf(claim)))
    if (beingAllocated !== undefined)
      return `resource claim ${keyOf(beingAllocated)} is in the process of being allocated`
    return deviceProblem(pod, claims, this.#listers)
  }

  #claimsOf(pod: Pod): readonly ResourceClaim[] {
    const claims = claimsOfPod(pod, this.#listers)
    return claims === 'waiting' ? [] : claims
  }

  #nodeFilter(pod: Pod): NodeFilter | undefined {
    if (!usesDevices(pod)) return undefined
    const claims = this.#claimsOf(pod)
    if (claims.length === 0) return undefined
    return (info) => {
      const isElsewhere = claims.some(
        ({ status }) => status?.allocation && !isAvailableOn(status.allocation, info.node!),
      )
      if (isElsewhere) return [NOT_ON_NODE]
      return this.#canServe(pod, claims, info) ? NONE : [CANNOT_ALLOCATE]
    }
  }

  #canServe(pod: Pod, claims: readonly ResourceClaim[], info: NodeInfo): boolean {
    try {
      return this.#allocate(claims, info) !== undefined
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error
      const claim = claims.find(({ status }) => status?.allocation === undefined)
      const text = `running "DynamicResources" filter plugin: claim ${claim && keyOf(claim)}: ${error.message}`
      this.#failedSelector = { podUid: pod.metadata?.uid ?? '', text }
      return false
    }
  }

  /** An expression that made no sense in the last search for this pod. */
  selectorProblem(pod: Pod): string | undefined {
    const failed = this.#failedSelector
    this.#failedSelector = undefined
    return failed?.podUid === pod.metadata?.uid ? failed?.text : undefined
  }

  /** Of the claims that have none yet. */
  #allocate(
    claims: readonly ResourceClaim[],
    { node }: NodeInfo,
  ): ReadonlyMap<ResourceClaim, AllocationResult> | undefined {
    const open = claims.filter(({ status }) => status?.allocation === undefined)
    if (open.length === 0) return new Map()
    this.#devicesOf ??= devicesByNode(publishedDevices(this.#slices.list()))
    const results = allocate(open, {
      devices: this.#devicesOf(node!),
      ...this.#inUse(),
      newShareId: () => uuid(this.#shareIds),
      classes: (name) => this.#listers.classes.get(undefined, name),
      selectors: this.#selectors,
    })
    return results && new Map(results.map((result, at) => [open[at]!, result]))
  }

  #inUse(): InUse {
    this.#allocated ??= usedBy(this.#claims.list().map(({ status }) => status?.allocation))
    if (this.#promised.size === 0) return this.#allocated
    const promised = [...this.#promised.values()].map(({ allocation }) => allocation)
    return usedBy(promised, this.#allocated)
  }

  /** The pod goes to this node, where its claims can be served. */
  promise(pod: Pod, info: NodeInfo): void {
    if (!usesDevices(pod)) return
    const podUid = pod.metadata?.uid ?? ''
    for (const [claim, allocation] of this.#allocate(this.#claimsOf(pod), info) ?? [])
      this.#promised.set(keyOf(claim), { claim, podUid, allocation, isWritten: false })
  }

  /** Before the pod is bound: its claims are allocated, reserved for it, and their devices are ready. */
  async bind(pod: Pod): Promise<void> {
    if (!usesDevices(pod)) return
    for (const claim of this.#claimsOf(pod)) {
      const key = keyOf(claim)
      const promised = this.#promised.get(key)
      const taken = await this.#writes.take(claim, pod, promised?.allocation)
      if (promised !== undefined) promised.isWritten = true
      await this.#writes.whenReady(taken, () => this.#claims.getByKey(key))
    }
  }

  /** Nothing comes of it. What is written is in the cache soon, and serves the next try. */
  release(pod: Pod): void {
    for (const [key, { podUid, isWritten }] of this.#promised)
      if (podUid === pod.metadata?.uid && !isWritten) this.#promised.delete(key)
  }

  /** No node fits. Devices that nobody else uses and that hold the pod elsewhere are given back. Answers what to say of it. */
  reconsider(pod: Pod, verdicts: readonly NodeVerdict[]): string {
    if (!usesDevices(pod)) return NO_CLAIMS
    if (!verdicts.some(({ reasons }) => reasons.includes(NOT_ON_NODE))) return CLAIMS_STAY
    for (const claim of this.#claimsOf(pod)) {
      const { allocation, reservedFor = [] } = claim.status ?? {}
      const isOnlyOurs =
        reservedFor.length === 0 || (reservedFor.length === 1 && isReservedFor(claim, pod))
      if (allocation === undefined || !isOnlyOurs) continue
      this.#writes.giveBack(claim).catch((error: unknown) => {
        const text = errorText(error)
        this.#logger.info('Devices could not be given back', { claim: keyOf(claim), error: text })
      })
      return CLAIM_GIVEN_BACK
    }
    return CLAIMS_STAY
  }
}

function usedBy(
  allocations: readonly (AllocationResult | undefined)[],
  before: InUse = { taken: new Set(), shares: new Map() },
): InUse {
  const taken = new Set(before.taken)
  const shares = new Map(before.shares)
  for (const result of allocations.flatMap((allocation) => allocation?.devices?.results ?? [])) {
    const key = deviceKey(result)
    if (result.adminAccess === true) continue
    if (isShare(result)) shares.set(key, added(shares.get(key), result.consumedCapacity))
    else taken.add(key)
  }
  return { taken, shares }
}
