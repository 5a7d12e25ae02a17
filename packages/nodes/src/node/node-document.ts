/**
 * What a user scripts of a node: when its machine is off. Contract: docs/behaviour/simulation/kubelet.md, Node document. Pure.
 */
import { parseTime } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { parseGoDuration, suggestion } from '@gyropilot/foundation'
import { yamlValue } from '@gyropilot/foundation/yaml'

export const NODE_ANNOTATION = 'sim.kubelet/node'

/** The machine is off from one moment on until the other; both in milliseconds of wall time, the second may be Infinity. */
export interface Outage {
  readonly fromMs: number
  readonly untilMs: number
}

/** What is wrong is reported, and left out. */
export function outagesOf(node: Node, report: (problem: string) => void): readonly Outage[] {
  const text = node.metadata?.annotations?.[NODE_ANNOTATION]
  if (text === undefined) return []
  const say = (problem: string): void => report(`annotation ${NODE_ANNOTATION} ${problem}`)
  const document = readDocument(text, say)
  for (const field of Object.keys(document))
    if (field !== 'stopped')
      say(`has a field ${field} that is not known${suggestion(field, ['stopped'])}`)
  const { stopped } = document
  if (stopped === undefined || stopped === false) return []
  if (stopped === true) return [{ fromMs: -Infinity, untilMs: Infinity }]
  const createdMs = parseTime(node.metadata?.creationTimestamp) ?? 0
  return (Array.isArray(stopped) ? stopped : [stopped]).flatMap(
    (entry) => outageOf(entry, createdMs, say) ?? [],
  )
}

/** Whether the machine is off at this moment. */
export function isOff(outages: readonly Outage[], nowMs: number): boolean {
  return outages.some(({ fromMs, untilMs }) => nowMs >= fromMs && nowMs < untilMs)
}

/** When that may change next; undefined: never. */
export function nextChangeMs(outages: readonly Outage[], nowMs: number): number | undefined {
  const later = outages
    .flatMap(({ fromMs, untilMs }) => [fromMs, untilMs])
    .filter((atMs) => atMs > nowMs && Number.isFinite(atMs))
  return later.length === 0 ? undefined : Math.min(...later)
}

function readDocument(
  text: string,
  say: (problem: string) => void,
): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = yamlValue(text)
    if (isObject(value)) return value
    say('is no YAML or JSON object')
  } catch (error) {
    say(`cannot be read: ${(error as Error).message}`)
  }
  return {}
}

function outageOf(
  entry: unknown,
  createdMs: number,
  say: (problem: string) => void,
): Outage | undefined {
  if (!isObject(entry)) {
    say(`cannot be used: stopped is ${JSON.stringify(entry)} and not true, or from and until`)
    return undefined
  }
  const fromMs = momentOf(entry['from'], createdMs, -Infinity)
  const untilMs = momentOf(entry['until'], createdMs, Infinity)
  if (fromMs !== undefined && untilMs !== undefined) return { fromMs, untilMs }
  const bad = fromMs === undefined ? entry['from'] : entry['until']
  say(`cannot be used: ${JSON.stringify(bad)} is neither a time nor a duration such as 1m30s`)
  return undefined
}

/** A time, or a duration from the creation of the node on. */
function momentOf(value: unknown, createdMs: number, otherwise: number): number | undefined {
  if (value === undefined || value === null) return otherwise
  if (typeof value !== 'string') return undefined
  const duration = parseGoDuration(value)
  if (typeof duration === 'number' && duration >= 0) return createdMs + duration
  return parseTime(value)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
