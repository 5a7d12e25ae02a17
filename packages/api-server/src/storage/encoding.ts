/**
 * The JSON of stored objects, made once per state and shared by gets, lists and watches of network clients. In-process
 * callers never ask for it, so a cluster in one process holds none.
 */
import type { Stored } from '@gyropilot/schema/objects'
import { stringifyExact } from '@gyropilot/foundation/exact-json'

const encodings = new WeakMap<Stored, string>()

/**
 * The JSON of a frozen object, or of one that is about to be: V8 writes arrays that are frozen at half the speed, so what a client
 * has just sent is better written before.
 */
export function encodedObject(object: Stored): string {
  let json = encodings.get(object)
  if (json === undefined) {
    json = stringifyExact(object)
    encodings.set(object, json)
  }
  return json
}

/**
 * Of a state that is none any more: hardly anybody asks for it again. Its text goes before its object does, which the log keeps for
 * minutes; and what dies in a WeakMap is paid for in one turn, at the end of a full collection of garbage (a microsecond each).
 */
export function forgetEncoding(object: Stored): void {
  encodings.delete(object)
  messages.delete(object)
}

const messages = new WeakMap<object, Uint8Array>()

/** Its message of protobuf, kept as its JSON is: what a write is answered with goes to all who watch, too. */
export function encodedMessage(object: object, make: () => Uint8Array): Uint8Array {
  let message = messages.get(object)
  if (message === undefined) {
    message = make()
    if (Object.isFrozen(object)) messages.set(object, message)
  }
  return message
}

/** The JSON of an item of a list, which has no kind and apiVersion of its own. */
export function encodedItem(object: Stored): string {
  const json = encodedObject(object)
  const head = `{"kind":${JSON.stringify(object['kind'])},"apiVersion":${JSON.stringify(object['apiVersion'])},`
  if (json.startsWith(head)) return `{${json.slice(head.length)}`
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object
  return stringifyExact(rest)
}
