/**
 * Writes the messages of Kubernetes that are single values in JSON: the other direction of `special-messages.ts`.
 * Contract: docs/behaviour/api-server/requests.md, Content negotiation.
 */
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import type { WireWriter } from './wire-writer.ts'

export function writeQuantity(writer: WireWriter, value: unknown): void {
  writer.stringField(1, String(value))
}

export function writeIntOrString(writer: WireWriter, value: unknown): void {
  const isText = typeof value === 'string'
  writer.stringField(3, isText ? value : '')
  writer.varintField(2, isText ? 0 : (value as number))
  writer.varintField(1, isText ? 1 : 0)
}

/** Times and those of microseconds, RFC 3339 in UTC. */
export function writeTime(writer: WireWriter, value: unknown): void {
  const text = String(value)
  const seconds = Math.floor(Date.parse(text) / 1_000)
  const fraction = /\.(\d+)/.exec(text)?.[1] ?? ''
  writer.varintField(2, Number(fraction.padEnd(9, '0').slice(0, 9)))
  writer.varintField(1, seconds)
}

/** FieldsV1, RawExtension and JSON. */
export function writeRawJson(writer: WireWriter, value: unknown): void {
  writer.stringField(1, stringifyExact(value))
}
