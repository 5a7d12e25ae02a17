/** Events are kept in the form of core/v1; events.k8s.io/v1 names some fields otherwise. */
import type { Draft, Stored } from '@gyropilot/schema/objects'

/** Field of events.k8s.io/v1 -> field of core/v1. */
const RENAMED: readonly (readonly [string, string])[] = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
  ['reportingController', 'reportingComponent'],
]
const TO_CORE = new Map(RENAMED)
const FROM_CORE = new Map(RENAMED.map(([events, core]) => [core, events]))

/** Left out by events.k8s.io/v1 when they are empty; core/v1 always shows them. */
const OPTIONAL = ['reportingController', 'reportingInstance'] as const

export function eventToStored(draft: Draft): Draft {
  const stored = { ...rename(draft, TO_CORE), kind: 'Event', apiVersion: 'v1' } as Draft
  for (const field of OPTIONAL) stored[TO_CORE.get(field) ?? field] ??= ''
  return stored
}

export function eventFromStored(stored: Stored): Stored {
  const view: Draft = {
    ...rename(stored, FROM_CORE),
    kind: 'Event',
    apiVersion: 'events.k8s.io/v1',
  }
  for (const field of OPTIONAL) if (view[field] === '') delete view[field]
  return Object.freeze(view)
}

function rename(object: Stored, names: ReadonlyMap<string, string>): Draft {
  const result: Draft = { kind: '', apiVersion: '' }
  for (const key of Object.keys(object)) result[names.get(key) ?? key] = object[key]
  return result
}
