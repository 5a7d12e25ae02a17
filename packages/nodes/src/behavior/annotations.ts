/**
 * The annotations of a pod that its simulated node reads, and what is wrong with those that it cannot use. Contract:
 * docs/behaviour/simulation/kubelet.md, Scripting the behaviour. Pure.
 */
import type { Pod } from '@gyropilot/api'
import { closestTo } from '@gyropilot/foundation'
import { durationMs } from './duration.ts'
import { unusableSteps } from './load.ts'

const PREFIX = 'sim.kubelet/'
export const BEHAVIOR_ANNOTATION = `${PREFIX}behavior`
const COMPLETION_INDEX = 'batch.kubernetes.io/job-completion-index'

type Kind = 'text' | 'flag' | 'duration' | 'integer' | 'load'

/** By name behind the prefix. */
const KNOWN: Readonly<Record<string, Kind>> = {
  behavior: 'text',
  run: 'duration',
  'exit-code': 'integer',
  'ready-after': 'duration',
  'crash-loop': 'flag',
  'fail-runs': 'integer',
  'image-error': 'text',
  terminate: 'duration',
  'never-ready': 'flag',
  'port-forward': 'text',
  cpu: 'load',
  memory: 'load',
  'shared-cpu': 'load',
  'shared-memory': 'load',
}
/** Their value may depend on the completion index of a pod of an Indexed Job. */
const BY_INDEX = new Set(['run', 'exit-code', 'fail-runs'])

const WANTED: Readonly<Record<Exclude<Kind, 'text'>, string>> = {
  flag: 'true or false',
  duration: 'a duration such as 3s or 1m30s',
  integer: 'a whole number',
  load: 'an amount such as 250m or 64Mi, or one from a time on such as 60s=1500m',
}

/** One short annotation, for the pod's completion index where its value says so. Undefined: absent, or of no use. */
export function annotated(pod: Pod, name: string): string | undefined {
  const text = pod.metadata?.annotations?.[PREFIX + name]
  if (text === undefined) return undefined
  const value = BY_INDEX.has(name) ? valueOfIndex(text, indexOf(pod)) : text
  return value !== undefined && isUsable(value, KNOWN[name]!) ? value.trim() : undefined
}

export function isAnnotated(pod: Pod, name: string): boolean {
  return annotated(pod, name) === 'true'
}

/** What is written of a load that pods have together; undefined: nothing that is of use. */
export function sharedLoadText(pod: Pod): string | undefined {
  const cpu = annotated(pod, 'shared-cpu')
  const memory = annotated(pod, 'shared-memory')
  return cpu === undefined && memory === undefined ? undefined : `${cpu ?? ''}/${memory ?? ''}`
}

/** One sentence for each annotation that is not known or not of use. */
export function annotationProblems(pod: Pod): readonly string[] {
  const problems: string[] = []
  for (const [key, text] of Object.entries(pod.metadata?.annotations ?? {})) {
    if (!key.startsWith(PREFIX)) continue
    const name = key.slice(PREFIX.length)
    const kind = KNOWN[name]
    if (kind === undefined) {
      const closest = closestTo(name, Object.keys(KNOWN))
      const meant = closest === undefined ? '' : `: did you mean ${PREFIX}${closest}?`
      problems.push(`annotation ${key} is not known to simulated nodes${meant}`)
    } else if (kind !== 'text') {
      const bad = unusable(name, kind, text)
      if (bad === undefined) continue
      problems.push(
        `annotation ${key} cannot be used: ${JSON.stringify(bad)} is not ${WANTED[kind]}`,
      )
    }
  }
  return problems
}

/** The first part of a value that is of no use. */
function unusable(name: string, kind: Kind, text: string): string | undefined {
  if (kind === 'load') return unusableSteps(text)[0]
  const values = BY_INDEX.has(name) ? valuesOf(text) : [text]
  return values.find((value) => !isUsable(value, kind))
}

function isUsable(value: string, kind: Kind): boolean {
  if (kind === 'load') return unusableSteps(value).length === 0
  if (kind === 'flag') return /^(true|false)$/.test(value.trim())
  if (kind === 'integer') return /^\d+$/.test(value.trim())
  return kind === 'text' || !Number.isNaN(durationMs(value.trim(), Number.NaN))
}

function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata?.annotations?.[COMPLETION_INDEX]
  return text === undefined ? undefined : Number(text)
}

/** `1` for all; `0=1,3-5=2` for the indexes named, nothing for the others; `*` is every index. The first that fits. */
function valueOfIndex(text: string, index: number | undefined): string | undefined {
  if (!text.includes('=')) return text
  for (const part of text.split(',')) {
    const [range = '', value = ''] = part.split('=')
    const [first = '', last = first] = range.trim().split('-')
    const fits =
      first === '*' || (index !== undefined && index >= Number(first) && index <= Number(last))
    if (fits) return value
  }
  return undefined
}

function valuesOf(text: string): readonly string[] {
  if (!text.includes('=')) return [text]
  return text.split(',').map((part) => {
    const [, value] = /^\s*(?:\*|\d+(?:-\d+)?)\s*=(.*)$/.exec(part) ?? []
    return value ?? part
  })
}
