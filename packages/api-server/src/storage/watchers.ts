import type { StoreEvent, WatchPin } from './store.ts'

type Listener = (event: StoreEvent) => void

interface PinnedField {
  readonly of: WatchPin['of']
  /** By prefix and value. */
  readonly listeners: Map<string, Set<Listener>>
}

/** Who follows a collection. An event costs those that it concerns, and one look at the object per field that is pinned. */
export class Watchers {
  readonly #byPrefix = new Map<string, Set<Listener>>()
  readonly #byField = new Map<string, PinnedField>()

  /** Every event under the prefix, or those that concern a value. The returned function ends it. */
  add(prefix: string, listener: Listener, pin?: WatchPin): () => void {
    if (pin === undefined) return join(this.#byPrefix, prefix, listener)
    const { field, value, of } = pin
    const known = this.#byField.get(field)
    const pinned = known ?? { of, listeners: new Map<string, Set<Listener>>() }
    if (known === undefined) this.#byField.set(field, pinned)
    const leave = join(pinned.listeners, placeOf(prefix, value), listener)
    return () => {
      leave()
      if (pinned.listeners.size === 0 && this.#byField.get(field) === pinned)
        this.#byField.delete(field)
    }
  }

  notify(event: StoreEvent): void {
    const slash = event.key.indexOf('/')
    const namespace = slash < 0 ? undefined : event.key.slice(0, slash + 1)
    tell(this.#byPrefix.get(''), event)
    if (namespace !== undefined) tell(this.#byPrefix.get(namespace), event)
    for (const { of, listeners } of this.#byField.values()) {
      for (const value of valuesOf(event, of)) {
        tell(listeners.get(placeOf('', value)), event)
        if (namespace !== undefined) tell(listeners.get(placeOf(namespace, value)), event)
      }
    }
  }
}

/** Whether the object has the value after the event, or had it before. */
export function concerns(event: StoreEvent, { value, of }: WatchPin): boolean {
  return valuesOf(event, of).includes(value)
}

function valuesOf({ object, previous }: StoreEvent, of: WatchPin['of']): readonly string[] {
  const now = of(object)
  const before = previous === undefined ? now : of(previous)
  return now === before ? [now] : [before, now]
}

/** No prefix holds the character between them. */
function placeOf(prefix: string, value: string): string {
  return `${prefix}\n${value}`
}

function join(map: Map<string, Set<Listener>>, key: string, listener: Listener): () => void {
  const listeners = map.get(key) ?? new Set()
  map.set(key, listeners.add(listener))
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0 && map.get(key) === listeners) map.delete(key)
  }
}

function tell(listeners: ReadonlySet<Listener> | undefined, event: StoreEvent): void {
  if (listeners === undefined) return
  for (const listener of listeners) listener(event)
}
