/**
 * What went wrong in a run and what its user did, as data: each entry can be left out and the rest played again. Entries name
 * the kind of place, about when, and which of a burst: nothing that moves when other entries are left out.
 */
import type { RequestFacts } from '../simulated/request-facts.ts'
import type { EventFacts, EventFault, RequestFault } from './injector.ts'
import type { WorldFault } from './world-fault.ts'

export type RequestPlace = Pick<
  RequestFacts,
  'process' | 'link' | 'verb' | 'collection' | 'subresource'
>
type EventPlace = Pick<EventFacts, 'process' | 'link' | 'collection' | 'type'>

interface At {
  /** Virtual milliseconds since the cluster's start. */
  readonly atMs: number
}

/** `ordinal`: how many requests or events of the same place came before it in the same burst. */
export type ScheduledFault =
  | (At & { readonly world: WorldFault })
  | (At & {
      readonly request: RequestPlace
      readonly ordinal: number
      readonly fault: RequestFault
    })
  | (At & { readonly event: EventPlace; readonly ordinal: number; readonly fault: EventFault })

/** Something the user did. */
export interface ScheduledOperation extends At {
  /** Names the stream of chance that decides the operation's details. */
  readonly step: number
  readonly operation: string
}

/** A fault or an operation, with its time. */
export type ScheduleEntry = ScheduledFault | ScheduledOperation

/** What went wrong and what the user did, in the order of time. With the seed, it is the whole run. */
export type Schedule = readonly ScheduleEntry[]

/** Tells the two kinds of entries apart. */
export function isOperation(entry: ScheduleEntry): entry is ScheduledOperation {
  return 'operation' in entry
}

/** Tells the two kinds of entries apart. */
export function isFault(entry: ScheduleEntry): entry is ScheduledFault {
  return !isOperation(entry)
}

export function requestPlace(facts: RequestFacts): RequestPlace {
  const { process, link, verb, collection, subresource } = facts
  return { process, link, verb, collection, subresource }
}

export function eventPlace({ process, link, collection, type }: EventFacts): EventPlace {
  return { process, link, collection, type }
}

export function placeKey(place: RequestPlace | EventPlace): string {
  const { process, link, collection } = place
  const rest = 'verb' in place ? `${place.verb} ${place.subresource}` : `event ${place.type}`
  return `${process} ${link} ${collection} ${rest}`
}

/** What comes from one place with shorter gaps than this is one burst. */
export const BURST_GAP_MS = 5_000

/** Numbers what comes from one place, anew in each burst. */
export class Ordinals {
  readonly #last = new Map<string, { atMs: number; ordinal: number }>()

  next(key: string, nowMs: number): number {
    const last = this.#last.get(key)
    const ordinal = last !== undefined && nowMs - last.atMs < BURST_GAP_MS ? last.ordinal + 1 : 0
    this.#last.set(key, { atMs: nowMs, ordinal })
    return ordinal
  }
}

/** One line for people. */
export function entryText(entry: ScheduleEntry): string {
  const at = `at ${(entry.atMs / 1000).toFixed(3)} s`
  if (isOperation(entry)) return `${at}  user: ${entry.operation}`
  if ('world' in entry) {
    const { kind, ...details } = entry.world
    return `${at}  ${kind} ${detailText(details)}`.trimEnd()
  }
  const { kind, ...details } = entry.fault
  const what = `${kind} ${detailText(details)}`.trimEnd()
  if ('event' in entry) {
    const { process, collection, type } = entry.event
    return `${at}  ${what}: ${process}, event ${type} of ${collection}`
  }
  const { process, verb, collection, subresource } = entry.request
  const target = subresource === '' ? collection : `${collection}/${subresource}`
  return `${at}  ${what}: ${process}, ${verb} ${target}`
}

function detailText(details: Readonly<Record<string, unknown>>): string {
  return Object.entries(details)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ')
}
