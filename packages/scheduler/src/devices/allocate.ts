/**
 * Which devices of a node serve the requests of claims, all of them or none.
 * Contract: docs/behaviour/simulation/scheduler.md, Devices. Pure.
 */
import { keyOf } from '@gyropilot/api'
import type {
  AllocationResult,
  DeviceAllocationConfiguration,
  DeviceClass,
  DeviceRequest,
  DeviceRequestAllocationResult,
  DeviceSubRequest,
  DeviceToleration,
  ExactDeviceRequest,
  ResourceClaim,
} from '@gyropilot/api'
import { AllocationError } from './allocation-error.ts'
import type { ClosedPool } from './closed-pools.ts'
import { constraintsOf } from './constraints.ts'
import type { Constraint } from './constraints.ts'
import { countersFit } from './counters.ts'
import { keyOfPublished, nodesOf } from './device-pools.ts'
import type { PublishedDevice } from './device-pools.ts'
import type { Selectors } from './selectors.ts'
import { added, consumptionOf, fitsBeside, isShared } from './shared-capacity.ts'
import type { Consumption } from './shared-capacity.ts'

interface AllocationWorld {
  /** That the node can use, in the order in which they are tried; none of closed pools. */
  readonly devices: readonly PublishedDevice[]
  /** Pools of the node whose devices cannot be had: nobody knows what all devices are. */
  readonly closedPools: readonly ClosedPool[]
  /** Keys of devices that other claims have for themselves. */
  readonly taken: ReadonlySet<string>
  /** What other claims have of shared devices, by key. */
  readonly shares: ReadonlyMap<string, Consumption>
  /** The identity of a new share: a uuid. */
  readonly newShareId: () => string
  readonly classes: (name: string) => DeviceClass | undefined
  readonly selectors: Selectors
}

/** A request or one of its alternatives. */
type Wanted = Omit<ExactDeviceRequest | DeviceSubRequest, 'name'> & {
  readonly fullName: string
  readonly requestName: string
  readonly adminAccess?: boolean
}

interface Chosen {
  readonly wanted: Wanted
  readonly device: PublishedDevice
  /** Of a shared device. */
  readonly consumed: Consumption | undefined
}

/** The most devices that one claim can get: what its status has room for. */
const CLAIM_DEVICES_MAX = 32
/** A search that goes back where it gets stuck gives up after so many steps. */
const STEPS_MAX = 20_000

/**
 * In the order of the claims; undefined: they cannot all be served. Throws AllocationError for a claim that no node could
 * serve, and for selectors that cannot be evaluated.
 */
export function allocate(
  claims: readonly ResourceClaim[],
  world: AllocationWorld,
): readonly AllocationResult[] | undefined {
  return new Search(claims, world).run()
}

class Search {
  readonly #claims: readonly ResourceClaim[]
  readonly #world: AllocationWorld
  readonly #taken: Set<string>
  readonly #shares: Map<string, Consumption>
  readonly #chosen: Chosen[][]
  readonly #constraints: readonly (readonly Constraint[])[]
  /** Of each claim, how many devices it may have when a request is served: what follows needs some too. */
  #most: readonly (readonly number[])[] = []
  /** Of each request or alternative that was looked at: that is asked again wherever the search gets stuck. */
  readonly #suitable = new Map<string, readonly PublishedDevice[]>()
  #steps = 0

  constructor(claims: readonly ResourceClaim[], world: AllocationWorld) {
    this.#claims = claims
    this.#world = world
    this.#taken = new Set(world.taken)
    this.#shares = new Map(world.shares)
    this.#chosen = claims.map(() => [])
    this.#constraints = claims.map(constraintsOf)
  }

  run(): readonly AllocationResult[] | undefined {
    const [closed] = this.#world.closedPools
    if (closed !== undefined) for (const claim of this.#claims) refuseAll(claim, closed)
    this.#most = this.#claims.map((_, claimAt) => this.#mostOf(claimAt))
    if (!this.#request(0, 0)) return undefined
    return this.#claims.map((claim, at) => resultOf(claim, this.#chosen[at]!, this.#world))
  }

  /** By request. Of alternatives the smallest counts. */
  #mostOf(claimAt: number): readonly number[] {
    const claim = this.#claims[claimAt]!
    const most: number[] = []
    let count = 0
    for (const request of (claim.spec.devices?.requests ?? []).toReversed()) {
      most.unshift(CLAIM_DEVICES_MAX - count)
      count += Math.min(...alternatives(request).map((wanted) => this.#sizeOf(claimAt, wanted)))
    }
    if (count <= CLAIM_DEVICES_MAX) return most
    const text = `number of requested devices ${count} exceeds the claim limit of ${CLAIM_DEVICES_MAX}`
    throw new AllocationError(`claim ${keyOf(claim)}: ${text}`)
  }

  #sizeOf(claimAt: number, wanted: Wanted): number {
    if (wanted.allocationMode !== 'All') return Number(wanted.count ?? 1)
    return this.#candidates(claimAt, wanted).length
  }

  #candidates(claimAt: number, wanted: Wanted): readonly PublishedDevice[] {
    const key = `${claimAt} ${wanted.fullName}`
    let found = this.#suitable.get(key)
    if (found === undefined) {
      found = this.#world.devices.filter((device) => this.#suits(claimAt, wanted, device))
      this.#suitable.set(key, found)
    }
    return found
  }

  /** Serves this request and all after it. */
  #request(claimAt: number, requestAt: number): boolean {
    const claim = this.#claims[claimAt]
    if (claim === undefined) return true
    const request = claim.spec.devices?.requests?.[requestAt]
    if (request === undefined) return this.#request(claimAt + 1, 0)
    const next = (): boolean => this.#request(claimAt, requestAt + 1)
    const most = this.#most[claimAt]![requestAt]!
    return alternatives(request).some((wanted) => this.#alternative(claimAt, wanted, most, next))
  }

  #alternative(claimAt: number, wanted: Wanted, most: number, next: () => boolean): boolean {
    const candidates = this.#candidates(claimAt, wanted)
    const isAll = wanted.allocationMode === 'All'
    const count = isAll ? candidates.length : Number(wanted.count ?? 1)
    if (this.#chosen[claimAt]!.length + count > most) return false
    if (!isAll) return this.#some(claimAt, wanted, candidates, 0, count, next)
    return candidates.length > 0 && this.#every(claimAt, wanted, candidates, 0, next)
  }

  /** `missing` more of the candidates from `from` on. */
  #some(
    claimAt: number,
    wanted: Wanted,
    candidates: readonly PublishedDevice[],
    from: number,
    missing: number,
    next: () => boolean,
  ): boolean {
    if (missing === 0) return next()
    for (let at = from; at + missing <= candidates.length; at++) {
      const found = this.#with(claimAt, wanted, candidates[at]!, () =>
        this.#some(claimAt, wanted, candidates, at + 1, missing - 1, next),
      )
      if (found) return true
    }
    return false
  }

  #every(
    claimAt: number,
    wanted: Wanted,
    candidates: readonly PublishedDevice[],
    at: number,
    next: () => boolean,
  ): boolean {
    const device = candidates[at]
    if (device === undefined) return next()
    return this.#with(claimAt, wanted, device, () =>
      this.#every(claimAt, wanted, candidates, at + 1, next),
    )
  }

  /** Takes the device for as long as the rest succeeds with it. */
  #with(claimAt: number, wanted: Wanted, device: PublishedDevice, rest: () => boolean): boolean {
    if (this.#steps++ > STEPS_MAX) return false
    // Who administers devices looks at those of others.
    const takes = wanted.adminAccess !== true
    const consumed = isShared(device.device)
      ? consumptionOf(device.device, wanted.capacity)
      : undefined
    const chosen = this.#chosen[claimAt]!
    if (takes ? !this.#isFree(device, consumed) : isAmong(chosen, device)) return false
    // Of one request each device is another one, shared or not.
    const ofRequest = chosen.filter((other) => other.wanted === wanted)
    if (consumed !== undefined && isAmong(ofRequest, device)) return false
    chosen.push({ wanted, device, consumed })
    const giveBack = takes ? this.#take(device, consumed) : () => {}
    if (this.#constraints[claimAt]!.every((constraint) => constraint(chosen)) && rest()) return true
    chosen.pop()
    giveBack()
    return false
  }

  #isFree(device: PublishedDevice, consumed: Consumption | undefined): boolean {
    const key = keyOfPublished(device)
    if (this.#taken.has(key)) return false
    if (consumed !== undefined && !fitsBeside(device.device, consumed, this.#shares.get(key)))
      return false
    const inUse = (other: string): boolean => this.#taken.has(other) || this.#shares.has(other)
    return countersFit(device, inUse)
  }

  /** Answers how to undo it. */
  #take(device: PublishedDevice, consumed: Consumption | undefined): () => void {
    const key = keyOfPublished(device)
    if (consumed === undefined) {
      this.#taken.add(key)
      return () => this.#taken.delete(key)
    }
    const before = this.#shares.get(key)
    this.#shares.set(key, added(before, consumed))
    return () => void (before ? this.#shares.set(key, before) : this.#shares.delete(key))
  }

  #suits(claimAt: number, wanted: Wanted, device: PublishedDevice): boolean {
    const { classes, selectors } = this.#world
    const name = wanted.deviceClassName
    const deviceClass = classes(name)
    return (
      deviceClass !== undefined &&
      areTaintsTolerated(device, wanted.tolerations) &&
      selectors.select(deviceClass.spec.selectors ?? [], device, `class ${name}`) &&
      selectors.select(wanted.selectors ?? [], device, `claim ${keyOf(this.#claims[claimAt]!)}`) &&
      consumptionOf(device.device, wanted.capacity) !== undefined
    )
  }
}

/** What all devices are nobody knows then. */
function refuseAll(claim: ResourceClaim, { id, state }: ClosedPool): void {
  const wanted = (claim.spec.devices?.requests ?? []).flatMap(alternatives)
  const all = wanted.find(({ allocationMode }) => allocationMode === 'All')
  if (all === undefined) return
  const text = `asks for all devices, but resource pool ${id} is currently ${state}`
  throw new AllocationError(`claim ${keyOf(claim)}, request ${all.fullName}: ${text}`)
}

function isAmong(chosen: readonly Chosen[], device: PublishedDevice): boolean {
  const key = keyOfPublished(device)
  return chosen.some((other) => keyOfPublished(other.device) === key)
}

/** What a request can be served with, the best first. */
function alternatives({ name, exactly, firstAvailable = [] }: DeviceRequest): readonly Wanted[] {
  if (exactly !== undefined) return [{ ...exactly, fullName: name, requestName: name }]
  return firstAvailable.map((sub) => ({
    ...sub,
    fullName: `${name}/${sub.name}`,
    requestName: name,
  }))
}

/** Unlike evictions, an absent effect is every effect. */
function areTaintsTolerated(
  { device }: PublishedDevice,
  tolerations: readonly DeviceToleration[] = [],
): boolean {
  return (device.taints ?? []).every(
    (taint) =>
      taint.effect === 'None' ||
      tolerations.some(
        ({ effect, key, operator, value }) =>
          (!effect || effect === taint.effect) &&
          (!key || key === taint.key) &&
          (operator === 'Exists' || (value ?? '') === (taint.value ?? '')),
      ),
  )
}

function resultOf(
  claim: ResourceClaim,
  chosen: readonly Chosen[],
  { classes, newShareId }: AllocationWorld,
): AllocationResult {
  const results = chosen.map(({ wanted, device, consumed }): DeviceRequestAllocationResult => {
    const { bindingConditions, bindingFailureConditions, name } = device.device
    return {
      request: wanted.fullName,
      driver: device.driver,
      pool: device.pool,
      device: name,
      ...(wanted.adminAccess && { adminAccess: true }),
      ...(wanted.tolerations && { tolerations: wanted.tolerations }),
      ...(bindingConditions && { bindingConditions }),
      ...(bindingFailureConditions && { bindingFailureConditions }),
      ...(consumed && { shareID: newShareId() }),
      ...(consumed && Object.keys(consumed).length > 0 && { consumedCapacity: consumed }),
    }
  })
  const config = configOf(claim, [...new Set(chosen.map(({ wanted }) => wanted))], classes)
  const nodeSelector = nodesOf(chosen.map(({ device }) => device))
  return {
    devices: { results, ...(config.length > 0 && { config }) },
    ...(nodeSelector && { nodeSelector }),
  }
}

/** For the driver: first what the classes say, then what the claim says. */
function configOf(
  claim: ResourceClaim,
  served: readonly Wanted[],
  classes: AllocationWorld['classes'],
): readonly DeviceAllocationConfiguration[] {
  const fromClasses = served.flatMap(({ fullName, deviceClassName }) =>
    (classes(deviceClassName)?.spec.config ?? []).map((config) => ({
      ...config,
      source: 'FromClass' as const,
      requests: [fullName],
    })),
  )
  const fromClaim = (claim.spec.devices?.config ?? []).flatMap((config) => {
    const { requests = [] } = config
    const applies =
      requests.length === 0 ||
      served.some(
        ({ fullName, requestName }) =>
          requests.includes(fullName) || requests.includes(requestName),
      )
    return applies ? [{ ...config, source: 'FromClaim' as const }] : []
  })
  return [...fromClasses, ...fromClaim]
}
