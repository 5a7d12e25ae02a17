/** Valid requests, recorded from a real server, and what a careless or hostile client makes of them. Everything follows from the random source. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { integerBetween } from '@gyropilot/foundation'
import type { RandomSource } from '@gyropilot/foundation'
import {
  METHODS,
  ODD_TEXTS,
  INHERITED,
  ODD_KEYS,
  FRAGMENTS,
  SEGMENTS,
  PARAMETERS,
  PARAMETER_VALUES,
  HEADER_VALUES,
} from './odd-values.ts'

export interface FuzzRequest {
  method: string
  path: string
  headers: Record<string, string>
  body: Buffer | undefined
}

interface Step {
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly contentType?: string
  readonly accept?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: unknown
}

const vectors = join(import.meta.dirname, '..', 'recordings', 'vectors')

/** Webhooks and aggregated servers are calls to others: what those do is not this server's robustness. */
const CALLS_OTHERS = /webhookconfigurations|apiservices/

/** All recorded requests, as templates. */
export function recordedSteps(): readonly Step[] {
  const steps: Step[] = []
  for (const file of readdirSync(vectors).toSorted()) {
    const { scenarios } = JSON.parse(readFileSync(join(vectors, file), 'utf8')) as {
      scenarios: readonly { readonly steps: readonly Step[] }[]
    }
    for (const scenario of scenarios) {
      for (const step of scenario.steps) if (!CALLS_OTHERS.test(step.path)) steps.push(step)
    }
  }
  return steps
}

export function pick<T>(random: RandomSource, choices: readonly T[]): T {
  return choices[integerBetween(random, 0, choices.length)]!
}

function chance(random: RandomSource, share: number): boolean {
  return random.next() < share
}

/** A recorded request in `namespace`; references to earlier answers become a plausible value. */
export function instantiate(step: Step, namespace: string): FuzzRequest {
  const filled = (text: string): string =>
    text.replaceAll('{ns}', namespace).replaceAll(/\{\{[^}]*\}\}/g, '5')
  const { body } = step
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(step.headers ?? {}))
    headers[name.toLowerCase()] = filled([value].flat().join(', '))
  if (step.contentType !== undefined) headers['content-type'] = step.contentType
  if (step.accept !== undefined) headers['accept'] = step.accept
  return {
    method: step.method,
    path: filled(step.path) + queryText(step.query, filled),
    headers,
    body:
      body === undefined
        ? undefined
        : Buffer.from(filled(typeof body === 'string' ? body : JSON.stringify(body))),
  }
}

function queryText(query: Step['query'], filled: (text: string) => string): string {
  const text = new URLSearchParams(
    Object.entries(query ?? {}).map(([name, value]) => [name, filled(String(value))]),
  ).toString()
  return text === '' ? '' : `?${text}`
}

/** One to three changes of any kind. */
export function mutate(random: RandomSource, request: FuzzRequest): void {
  const count = integerBetween(random, 1, 4)
  for (let i = 0; i < count; i++) {
    const kind = random.next()
    if (kind < 0.55 && request.body !== undefined) mutateJsonBody(random, request)
    else if (kind < 0.65 && request.body !== undefined)
      request.body = mutatedBytes(random, request.body)
    else if (kind < 0.78) request.path = mutatedPath(random, request.path)
    else if (kind < 0.9) request.path = withOddQuery(random, request.path)
    else if (kind < 0.97) mutateHeaders(random, request)
    else request.method = pick(random, METHODS)
  }
}

function oddValue(random: RandomSource): unknown {
  switch (integerBetween(random, 0, 14)) {
    case 0:
      return null
    case 1:
      return -1
    case 2:
      return 0
    case 3:
      return pick(random, [
        1e308,
        2 ** 53,
        -(2 ** 63),
        2 ** 31,
        0.1,
        1e-300,
        65_536,
        1_000_000_000_000,
      ])
    case 4:
      return {}
    case 5:
      return []
    case 6:
      return true
    case 7:
      return [[[[{}]]]]
    case 8:
      return [null, null]
    case 9:
      return { [pick(random, ODD_KEYS)]: pick(random, ODD_TEXTS) }
    case 10:
      return JSON.parse(
        '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":1}}}',
      )
    case 11:
      return [pick(random, ODD_TEXTS), pick(random, ODD_TEXTS)]
    default:
      return pick(random, ODD_TEXTS)
  }
}

type Node = { readonly holder: Record<string, unknown> | unknown[]; readonly key: string | number }

function nodesOf(value: unknown, found: Node[] = []): Node[] {
  if (Array.isArray(value)) {
    for (const [key, child] of value.entries()) {
      found.push({ holder: value, key })
      nodesOf(child, found)
    }
  } else if (typeof value === 'object' && value !== null) {
    const holder = value as Record<string, unknown>
    for (const key of Object.keys(holder)) {
      found.push({ holder, key })
      nodesOf(holder[key], found)
    }
  }
  return found
}

/** Puts a member as JSON.parse does: `__proto__` too is data. */
function put(holder: object, key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

/** Changes one place of the body's value; bodies that are no JSON are changed as bytes. */
function mutateJsonBody(random: RandomSource, request: FuzzRequest): void {
  let value: unknown
  try {
    value = JSON.parse(request.body!.toString())
  } catch {
    request.body = mutatedBytes(random, request.body!)
    return
  }
  const nodes = nodesOf(value)
  if (nodes.length === 0) {
    request.body = Buffer.from(JSON.stringify(oddValue(random)))
    return
  }
  const { holder, key } = pick(random, nodes)
  const current = (holder as Record<string | number, unknown>)[key]
  switch (integerBetween(random, 0, 8)) {
    case 4:
      // A name that every object inherits, beside a sibling whose value is plausible.
      put(
        holder,
        Array.isArray(holder) ? holder.length : pick(random, INHERITED),
        structuredClone(current),
      )
      break
    case 0:
      if (Array.isArray(holder)) holder.splice(Number(key), 1)
      else delete holder[key]
      break
    case 1:
      if (Array.isArray(holder)) holder.push(structuredClone(current))
      else put(holder, pick(random, ODD_KEYS), structuredClone(current))
      break
    case 2: {
      const other = pick(random, nodes)
      put(holder, key, structuredClone((other.holder as never)[other.key]))
      break
    }
    case 3:
      if (typeof current === 'object' && current !== null)
        put(
          current,
          Array.isArray(current) ? current.length : pick(random, ODD_KEYS),
          oddValue(random),
        )
      else if (typeof current === 'string') put(holder, key, current + pick(random, ODD_TEXTS))
      else put(holder, key, oddValue(random))
      break
    default:
      put(holder, key, oddValue(random))
  }
  request.body = Buffer.from(JSON.stringify(value))
}

function mutatedBytes(random: RandomSource, bytes: Buffer): Buffer {
  const at = integerBetween(random, 0, bytes.length + 1)
  switch (integerBetween(random, 0, 6)) {
    case 0:
      return bytes.subarray(0, at)
    case 1: {
      const changed = Buffer.from(bytes)
      for (let i = integerBetween(random, 1, 5); i > 0 && changed.length > 0; i--)
        changed[integerBetween(random, 0, changed.length)] = integerBetween(random, 0, 256)
      return changed
    }
    case 2:
      return Buffer.from(
        Array.from({ length: integerBetween(random, 0, 200) }, () =>
          integerBetween(random, 0, 256),
        ),
      )
    case 3: {
      const to = integerBetween(random, at, bytes.length + 1)
      return Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)])
    }
    case 4:
      return Buffer.concat([Buffer.from([0x6b, 0x38, 0x73, 0x00]), bytes.subarray(at)])
    default:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(pick(random, FRAGMENTS)),
        bytes.subarray(at),
      ])
  }
}

function mutatedPath(random: RandomSource, target: string): string {
  const [path = '', ...query] = target.split('?')
  const segments = path.split('/')
  const at = integerBetween(random, 1, segments.length + 1)
  switch (integerBetween(random, 0, 6)) {
    case 0:
      segments.splice(at, 1)
      break
    case 1:
      segments.splice(at, 0, pick(random, SEGMENTS))
      break
    case 2:
      segments[at] = encodeURIComponent(
        pick(
          random,
          ODD_TEXTS.filter((text) => text !== '\ud800'),
        ),
      )
      break
    case 3:
      segments[at] = pick(random, SEGMENTS)
      break
    case 4:
      segments[at] =
        `${segments[at] ?? ''}%${pick(random, ['', '2', 'zz', 'ff', '2f', '00', 'c3%28'])}`
      break
    default:
      segments.push(pick(random, SEGMENTS))
  }
  return [segments.join('/'), ...query].join('?')
}

function withOddQuery(random: RandomSource, path: string): string {
  const value = encodeURIComponent(pick(random, PARAMETER_VALUES))
  const raw = chance(random, 0.1) ? '%zz&=&&;' : ''
  return `${path}${path.includes('?') ? '&' : '?'}${pick(random, PARAMETERS)}=${value}${raw}`
}

function mutateHeaders(random: RandomSource, request: FuzzRequest): void {
  const name = pick(random, Object.keys(HEADER_VALUES))
  request.headers[name] = pick(random, HEADER_VALUES[name]!)
}
