/** One fault at one place: the n-th request or event that counts. What no fault meets is only counted. */
import { isWrite } from '../simulated/request-facts.ts'
import type { RequestFacts } from '../simulated/request-facts.ts'
import { OldLists } from './old-lists.ts'
import type { EventFacts, EventFault, FaultInjector, RequestFault } from './injector.ts'
import { isWorldFault } from './world-fault.ts'
import type { WorldFault } from './world-fault.ts'

/** Writes of controllers, their live reads, events that reach them. */
export type Stage = 'write' | 'read' | 'event'

/** Faults of the world happen at the moment at which the request is sent or the event leaves the server. */
export type OneShot =
  | {
      readonly stage: 'write' | 'read'
      readonly position: number
      readonly fault: RequestFault | WorldFault
      /**
       * Of a crash at a write: the next life's first list of what was written before that, other than it, is from before the first
       * write of that row.
       */
      readonly thenOldList?: boolean
    }
  | {
      readonly stage: 'event'
      readonly position: number
      readonly fault: EventFault | WorldFault
    }

interface OneShotOptions {
  /** Whose requests and events count. */
  readonly process: string
  readonly shot?: OneShot
  /** Makes a fault of the world happen. */
  readonly strike: (fault: WorldFault) => void
  /** Of the store, now. */
  readonly revision: () => number
  /** What stood at each position. */
  readonly onPosition?: (stage: Stage, position: number, text: string) => void
}

/** Strikes once, at a position that is counted from the start of the run, and counts the positions of the whole run. */
export class OneShotFault implements FaultInjector {
  readonly #options: OneShotOptions
  readonly #counts: Record<Stage, number> = { write: 0, read: 0, event: 0 }
  readonly #rows = new WriteRows()
  #oldLists: OldLists | undefined
  #fired = false

  constructor(options: OneShotOptions) {
    this.#options = options
  }

  get counts(): Readonly<Record<Stage, number>> {
    return this.#counts
  }

  /** False after a run: its course came out so that the position was never reached. */
  get fired(): boolean {
    return this.#fired
  }

  onRequest(facts: RequestFacts): RequestFault | undefined {
    const { process, shot } = this.#options
    if (facts.process !== process || facts.link === 'leader-election') return undefined
    const oldList = this.#oldLists?.onRequest(facts)
    if (oldList !== undefined) return oldList
    const stage = stageOf(facts)
    if (stage === undefined) return undefined
    const position = this.#count(stage, `${shortUser(facts.user)} ${facts.method} ${facts.path}`)
    if (stage === 'write') this.#rows.wrote(facts.collection, this.#options.revision())
    if (shot === undefined || shot.stage === 'event') return undefined
    if (!this.#isHit(stage, position)) return undefined
    if (shot.thenOldList) this.#oldLists = this.#rows.listsFromBefore()
    return this.#felt(shot.fault)
  }

  onEvent(facts: EventFacts): EventFault | undefined {
    const { process, shot } = this.#options
    if (facts.process !== process || isRenewal(facts)) return undefined
    const position = this.#count('event', `${facts.collection} ${facts.type} ${facts.key}`)
    if (shot?.stage !== 'event') return undefined
    return this.#isHit('event', position) ? this.#felt(shot.fault) : undefined
  }

  /** What the request or the event itself feels of the fault. */
  #felt<F extends RequestFault | EventFault>(fault: F | WorldFault): F | undefined {
    if (!isWorldFault(fault)) return fault
    this.#options.strike(fault)
    return undefined
  }

  #isHit(stage: Stage, position: number): boolean {
    const { shot } = this.#options
    const isHit = !this.#fired && shot?.stage === stage && shot.position === position
    if (isHit) this.#fired = true
    return isHit
  }

  #count(stage: Stage, text: string): number {
    const position = this.#counts[stage]++
    this.#options.onPosition?.(stage, position, text)
    return position
  }
}

interface WriteRow {
  readonly collection: string
  /** Of the store, before the first of the row. */
  readonly revision: number
}

/** Writes of one collection after each other are a row; nobody caches events, so they are not looked at. */
class WriteRows {
  #current: WriteRow = { collection: '', revision: 0 }
  #former: WriteRow | undefined

  /** Of the row before the current one, where there is one. */
  listsFromBefore(): OldLists {
    const { collection, revision } = this.#former ?? this.#current
    return new OldLists(collection, revision)
  }

  wrote(collection: string, revision: number): void {
    if (collection === this.#current.collection || collection === 'events') return
    if (this.#current.collection !== '') this.#former = this.#current
    this.#current = { collection, revision }
  }
}

function stageOf(facts: RequestFacts): Stage | undefined {
  if (isWrite(facts)) return facts.isHeartbeat ? undefined : 'write'
  return facts.verb === 'get' || facts.verb === 'list' ? 'read' : undefined
}

function shortUser(user: string): string {
  return user.replace(/^system:(serviceaccount:kube-system:)?/, '')
}

/** Of a leadership, every other second: nobody's rules look at it. */
function isRenewal({ collection, type, key }: EventFacts): boolean {
  return (
    collection === 'leases.coordination.k8s.io' &&
    type === 'MODIFIED' &&
    key.startsWith('kube-system/')
  )
}
