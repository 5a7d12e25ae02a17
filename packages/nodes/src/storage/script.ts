/**
 * What a user wants the driver to do slowly or not at all: parameters of a class, annotations of a claim and of a volume.
 * Contract: docs/behaviour/simulation/storage.md, Scripting. Pure.
 */
import type { PersistentVolume } from '@gyropilot/api'
import { closestTo } from '@gyropilot/foundation'
import { durationMs } from '../behavior/duration.ts'
import { DRIVER } from './driver-objects.ts'

export type StorageOperation = 'provision' | 'delete' | 'attach' | 'detach' | 'resize' | 'mount'

const OPERATIONS: readonly StorageOperation[] = [
  'provision',
  'delete',
  'attach',
  'detach',
  'resize',
  'mount',
]
const PREFIX = `${DRIVER}/`
const TOPOLOGY = `${PREFIX}topology`
const TOPOLOGIES = ['zone', 'node', 'anywhere'] as const
type TopologyKind = (typeof TOPOLOGIES)[number]

export type Values = Readonly<Record<string, string>>

export interface OperationScript {
  readonly durationMs: number
  /** As a driver's answer reads. Undefined: it succeeds. */
  readonly error: string | undefined
  /** So many tries fail. Infinite: all. */
  readonly failures: number
}

/** Those of the values that script this driver. */
export function ownValues(values: Values | undefined): Values {
  return Object.fromEntries(Object.entries(values ?? {}).filter(([key]) => key.startsWith(PREFIX)))
}

/** What is said on the volume goes before what its class said. */
export function valuesOf({ metadata, spec }: PersistentVolume): Values {
  return { ...ownValues(spec?.csi?.volumeAttributes), ...ownValues(metadata?.annotations) }
}

export function scriptOf(operation: StorageOperation, values: Values): OperationScript {
  const text = values[`${PREFIX}${operation}-error`]
  const count = values[`${PREFIX}${operation}-failures`]
  const failures = count !== undefined && /^\d+$/.test(count) ? Number(count) : undefined
  const isFailing = text !== undefined || failures !== undefined
  return {
    durationMs: durationMs(values[`${PREFIX}${operation}`], 0),
    error: isFailing ? answerText(text || 'scripted failure') : undefined,
    failures: failures ?? Infinity,
  }
}

/** `ResourceExhausted: zone is full` has a code of its own. */
function answerText(text: string): string {
  const [, code, description] = /^([A-Z][A-Za-z]+): (.+)$/s.exec(text) ?? []
  return `rpc error: code = ${code ?? 'Internal'} desc = ${description ?? text}`
}

/** The driver has no room where it was asked to make the volume; elsewhere it may have. */
export function isForWantOfRoom(answer: string): boolean {
  return answer.startsWith('rpc error: code = ResourceExhausted ')
}

/** From where a volume is reached. */
export function topologyKindOf(values: Values): TopologyKind {
  const text = values[TOPOLOGY]
  return TOPOLOGIES.find((known) => known === text) ?? 'zone'
}

/** One sentence for each value that the driver cannot use. */
export function valueProblems(values: Values): readonly string[] {
  const problems: string[] = []
  for (const [key, text] of Object.entries(values)) {
    const wanted = wantedOf(key.slice(PREFIX.length))
    if (wanted === undefined) {
      const closest = closestTo(key.slice(PREFIX.length), KNOWN)
      const meant = closest === undefined ? '' : `: did you mean ${PREFIX}${closest}?`
      problems.push(`${key} is not known to the storage driver${meant}`)
    } else if (!wanted.fits(text)) {
      problems.push(`${key} cannot be used: ${JSON.stringify(text)} is not ${wanted.words}`)
    }
  }
  return problems
}

const KNOWN: readonly string[] = [
  'topology',
  ...OPERATIONS.flatMap((name) => [name, `${name}-error`, `${name}-failures`]),
]

interface Wanted {
  readonly words: string
  fits(text: string): boolean
}

function wantedOf(name: string): Wanted | undefined {
  if (!KNOWN.includes(name)) return undefined
  if (name === 'topology')
    return {
      words: TOPOLOGIES.join(' or '),
      fits: (text) => TOPOLOGIES.some((known) => known === text),
    }
  if (name.endsWith('-error')) return { words: 'a text', fits: (text) => text !== '' }
  if (name.endsWith('-failures'))
    return { words: 'a whole number', fits: (text) => /^\d+$/.test(text) }
  return {
    words: 'a duration such as 3s or 1m30s',
    fits: (text) => !Number.isNaN(durationMs(text, Number.NaN)),
  }
}
