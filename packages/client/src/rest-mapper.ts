import type { DiscoveredResource, ResourceType } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import type { Client } from './client.ts'
import { ResourceLookup, discover } from './discovery.ts'
import type { Discovered } from './discovery.ts'
import { clientErrors } from './errors.ts'

const LEAST_AGE_MS = 1_000

/** Times are of the clock that is handed in. */
export interface RestMapperOptions {
  readonly client: Client
  readonly clock: Clock
  /** What was read is used no longer than this. Default 0: until something is missing. kube-controller-manager: 30 s. */
  readonly mostAgeMs?: number
  /** Something missing makes discovery be read again only when the last reading is older than this. Default 1 s. */
  readonly leastAgeMs?: number
}

interface Known {
  readonly lookup: ResourceLookup
  readonly from: Discovered
  /** When the reading began. */
  readonly ms: number
}

/**
 * From kinds and resource names to the resources of a server, for a whole process: discovery is read when it is first needed,
 * by all who need it at that moment together, and again when a kind is missing, which a definition may have brought since.
 * Contract: docs/behaviour/runtime/custom-controllers.md, Custom resource definitions.
 */
export class RestMapper {
  readonly #options: RestMapperOptions
  #known: Known | undefined
  #reading: Promise<Known> | undefined

  constructor(options: RestMapperOptions) {
    this.#options = options
  }

  /** The resource of this kind; without a version in the preferred one. Undefined: the server has none. Rejects as `requireKind` where it cannot be known. */
  forKind(group: string, kind: string, version = ''): Promise<ResourceType | undefined> {
    return this.#find(group, version, (lookup) => lookup.forKind(group, kind, version))
  }

  /** Rejects with DISCOVERY_FAILED where there is none, or where its group could not be read: those are told apart by the text. */
  async requireKind(group: string, kind: string, version = ''): Promise<ResourceType> {
    const found = await this.forKind(group, kind, version)
    return found ?? (await this.lookup()).requireKind(group, kind, version)
  }

  forResource(
    group: string,
    resource: string,
    version = '',
  ): Promise<DiscoveredResource | undefined> {
    return this.#find(group, version, (lookup) => lookup.forResource(group, resource, version))
  }

  /** Everything, as it is known now. */
  async lookup(): Promise<ResourceLookup> {
    return (await this.#current()).lookup
  }

  /** The same as discovery tells it. */
  async discovered(): Promise<Discovered> {
    return (await this.#current()).from
  }

  /** The next question reads discovery again, also while a reading is under way: that may have missed what has changed. */
  reset(): void {
    this.#known = undefined
    this.#reading = undefined
  }

  async #current(): Promise<Known> {
    const { mostAgeMs = 0 } = this.#options
    const known = this.#known
    if (known === undefined || (mostAgeMs > 0 && this.#ageOf(known) >= mostAgeMs))
      return this.#read()
    return known
  }

  async #find<R>(
    group: string,
    version: string,
    find: (lookup: ResourceLookup) => R | undefined,
  ): Promise<R | undefined> {
    let known = await this.#current()
    const found = find(known.lookup)
    if (found !== undefined) return found
    if (this.#ageOf(known) >= (this.#options.leastAgeMs ?? LEAST_AGE_MS)) {
      known = await this.#read()
      const second = find(known.lookup)
      if (second !== undefined) return second
    }
    const failure = [...known.from.failed].find(([name]) => isOf(name, group, version))
    if (failure === undefined) return undefined
    throw clientErrors.make(
      'DISCOVERY_FAILED',
      `unable to retrieve the complete list of server APIs: ${failure[0]}: ${failure[1]}`,
    )
  }

  #ageOf({ ms }: Known): number {
    return this.#options.clock.monotonicMs() - ms
  }

  /** One reading for all who need one now. A reset leaves it to those who wait for it already. */
  #read(): Promise<Known> {
    if (this.#reading !== undefined) return this.#reading
    const reading = this.#readNow()
      .then((known) => {
        if (this.#reading === reading) this.#known = known
        return known
      })
      .finally(() => {
        if (this.#reading === reading) this.#reading = undefined
      })
    this.#reading = reading
    return reading
  }

  async #readNow(): Promise<Known> {
    const ms = this.#options.clock.monotonicMs()
    const from = await discover(this.#options.client)
    return { lookup: new ResourceLookup(from), from, ms }
  }
}

function isOf(groupVersion: string, group: string, version: string): boolean {
  const slash = groupVersion.indexOf('/')
  const ofGroup = slash === -1 ? '' : groupVersion.slice(0, slash)
  return ofGroup === group && (version === '' || groupVersion.slice(slash + 1) === version)
}
