/** What the scheduler writes to claims, and of them to pods. Contract: docs/behaviour/simulation/scheduler.md, Devices. */
import {
  findCondition,
  isConditionTrue,
  isReservedFor,
  isTerminating,
  keyOf,
  resources,
  withFinalizer,
} from '@gyropilot/api'
import type {
  AllocationResult,
  ContainerExtendedResourceRequest,
  Pod,
  ResourceClaim,
  ResourceClaimStatus,
} from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { errorText, formatTime, sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'

export const FINALIZER = 'resource.kubernetes.io/delete-protection'
const CONFLICTS_MAX = 3
const CONDITIONS_CHECK_MS = 1_000
const CONDITIONS_LIMIT_MS = 600_000

export class ClaimWrites {
  readonly #client: Client
  readonly #clock: Clock

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /**
   * The claim as it is for the pod: with the allocation, unless it had one, and the reservation. `claim` is what the node was
   * chosen with, `latest` what is known now: rejects when the choice no longer holds.
   */
  async take(
    claim: ResourceClaim,
    pod: Pod,
    allocation: AllocationResult | undefined,
    latest = claim,
  ): Promise<ResourceClaim> {
    for (let conflicts = 0, current = latest; ; conflicts++) {
      this.#checkSame(claim, current, allocation)
      try {
        return await this.#takeOnce(current, pod, allocation)
      } catch (error) {
        if (!isConflict(error) || conflicts === CONFLICTS_MAX) throw error
        current = await this.#claims(claim).get(claim.metadata?.name ?? '')
      }
    }
  }

  async #takeOnce(
    claim: ResourceClaim,
    pod: Pod,
    allocation: AllocationResult | undefined,
  ): Promise<ResourceClaim> {
    const claims = this.#claims(claim)
    if (allocation === undefined && isReservedFor(claim, pod)) return claim
    const held = allocation === undefined ? claim : withFinalizer(claim, FINALIZER)
    const known = held === claim ? claim : await claims.update(held)
    const { name = '', uid = '' } = pod.metadata ?? {}
    const consumer = { resource: 'pods', name, uid }
    const allocationTimestamp = formatTime(this.#clock.nowMs())
    const status: ResourceClaimStatus = {
      ...known.status,
      ...(allocation && { allocation: { ...allocation, allocationTimestamp } }),
      reservedFor: [...(known.status?.reservedFor ?? []), consumer],
    }
    return await claims.update({ ...known, status }, { subresource: 'status' })
  }

  #checkSame(
    before: ResourceClaim,
    now: ResourceClaim,
    allocation: AllocationResult | undefined,
  ): void {
    const text = `resourceclaim ${keyOf(before)}`
    if (now.metadata?.uid !== before.metadata?.uid) throw new Error(`${text} was replaced`)
    if (isTerminating(now)) throw new Error(`${text} got deleted in the meantime`)
    if ((now.status?.allocation === undefined) !== (allocation !== undefined))
      throw new Error(`${text} was allocated or deallocated in the meantime`)
  }

  /** For devices that are made ready only now. Rejects when one fails, when it takes too long, or when `signal` aborts. */
  async whenReady(
    claims: readonly ResourceClaim[],
    latest: (claim: ResourceClaim) => ResourceClaim | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const endMs = this.#clock.monotonicMs() + CONDITIONS_LIMIT_MS
    for (let known = claims; ; known = known.map((claim) => latest(claim) ?? claim)) {
      const failed = known.find((claim) => bindingState(claim) === 'failed')
      if (failed !== undefined) throw new Error(`claim ${keyOf(failed)} binding failed`)
      const late = known.find((claim) => !isReady(claim))
      if (late === undefined) return
      if (this.#clock.monotonicMs() >= endMs)
        throw new Error(`claim ${keyOf(late)} binding timeout`)
      await sleep(this.#clock, CONDITIONS_CHECK_MS, signal)
    }
  }

  /** Devices that only this pod would use are of no use to it: another try may choose others. */
  async giveBack(claim: ResourceClaim): Promise<void> {
    const { allocation: _, reservedFor: __, ...rest } = claim.status ?? {}
    await this.#claims(claim).update({ ...claim, status: rest }, { subresource: 'status' })
  }

  /** The claim of the pod's extended resources, under a name that the server makes. */
  async createExtended({ metadata, spec }: ResourceClaim): Promise<ResourceClaim> {
    const { name: _, ...unnamed } = metadata ?? {}
    const claims = this.#client.resource(resources.resourceclaims, metadata?.namespace)
    try {
      return await claims.create({ metadata: unnamed, spec })
    } catch (error) {
      const text = `create claim for extended resources ${metadata?.namespace}/: ${errorText(error)}`
      throw new Error(text, { cause: error })
    }
  }

  /** Tells the node which container gets what of the claim. */
  async recordExtended(
    { metadata }: Pod,
    claim: ResourceClaim,
    requestMappings: readonly ContainerExtendedResourceRequest[],
  ): Promise<void> {
    const resourceClaimName = claim.metadata?.name ?? ''
    const value = {
      status: { extendedResourceClaimStatus: { requestMappings, resourceClaimName } },
    }
    await this.#client
      .resource(resources.pods, metadata?.namespace)
      .patch(metadata?.name ?? '', { type: 'strategic', value }, { subresource: 'status' })
  }

  /**
   * Nothing came of the pod's try: claims are not reserved for it any more, and what was made for its extended resources goes.
   * A binding whose answer was lost did come to something: then the pod has the devices.
   */
  async undo(
    pod: Pod,
    reserved: readonly ResourceClaim[],
    extended: ResourceClaim | undefined,
  ): Promise<void> {
    if (reserved.length === 0 && extended === undefined) return
    if (await this.#isBound(pod)) return
    for (const claim of reserved) await this.#unreserve(claim, pod)
    if (extended !== undefined) await this.#discard(extended)
  }

  async #unreserve(claim: ResourceClaim, pod: Pod): Promise<void> {
    const { name = '', uid } = claim.metadata ?? {}
    const reservedFor = [{ $patch: 'delete', uid: pod.metadata?.uid }]
    const value = { metadata: { uid }, status: { reservedFor } }
    try {
      await this.#claims(claim).patch(name, { type: 'strategic', value }, { subresource: 'status' })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  /** Its finalizer is resourceclaim-controller's to take off, once it has no allocation. */
  async #discard(claim: ResourceClaim): Promise<void> {
    const claims = this.#claims(claim)
    const { name = '', uid } = claim.metadata ?? {}
    try {
      const current = await claims.get(name)
      if (current.metadata?.uid !== uid || isTerminating(current)) return
      if (current.status?.allocation !== undefined) await this.giveBack(current)
      await claims.delete(name, { preconditions: { uid } })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async #isBound({ metadata }: Pod): Promise<boolean> {
    try {
      const pods = this.#client.resource(resources.pods, metadata?.namespace)
      const current = await pods.get(metadata?.name ?? '')
      return current.metadata?.uid === metadata?.uid && Boolean(current.spec?.nodeName)
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }

  #claims({ metadata }: ResourceClaim) {
    return this.#client.resource(resources.resourceclaims, metadata?.namespace)
  }
}

/** Nothing has to happen to its devices any more. */
export function isReady(claim: ResourceClaim): boolean {
  return bindingState(claim) === 'ready'
}

function bindingState({ status }: ResourceClaim): 'ready' | 'waiting' | 'failed' {
  let state: 'ready' | 'waiting' = 'ready'
  for (const result of status?.allocation?.devices?.results ?? []) {
    const { bindingConditions = [], bindingFailureConditions = [] } = result
    if (bindingConditions.length === 0) continue
    const device = status?.devices?.find(
      ({ driver, pool, device: name }) =>
        driver === result.driver && pool === result.pool && name === result.device,
    )
    const conditions = device?.conditions
    if (bindingFailureConditions.some((type) => isConditionTrue(conditions, type))) return 'failed'
    if (!bindingConditions.every((type) => findCondition(conditions, type)?.status === 'True'))
      state = 'waiting'
  }
  return state
}
