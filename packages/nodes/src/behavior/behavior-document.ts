/** Reads the behaviour document, and says what in it is not known. Contract: docs/behaviour/simulation/kubelet.md. Pure. */
import { suggestion } from '@gyropilot/foundation'
import { yamlValue } from '@gyropilot/foundation/yaml'
import { BEHAVIOR_ANNOTATION } from './annotations.ts'

// oxlint-disable-next-line no-explicit-any -- a user's document, read field by field
export type Document = Record<string, any>

const FIELDS = ['speed', 'sandbox', 'admission', 'containers']
const CONTAINER_FIELDS = [
  'pull',
  'start',
  'runs',
  'startup',
  'readiness',
  'liveness',
  'readyAfter',
  'terminate',
  'logs',
  'exec',
]
const RUN_FIELDS = ['duration', 'exitCode', 'reason', 'message', 'oom']

/** Empty when there is none or it cannot be read. */
export function documentOf(text: string | undefined, report: (problem: string) => void): Document {
  if (text === undefined) return {}
  const say = (problem: string): void => report(`annotation ${BEHAVIOR_ANNOTATION} ${problem}`)
  try {
    const value: unknown = yamlValue(text)
    if (!isObject(value)) {
      say('is no YAML or JSON object')
      return {}
    }
    reportUnknown(value, say)
    return value
  } catch (error) {
    say(`cannot be read: ${(error as Error).message}`)
  }
  return {}
}

function reportUnknown(document: Document, say: (problem: string) => void): void {
  const check = (object: unknown, known: readonly string[], where: string): void => {
    if (!isObject(object)) return
    for (const field of Object.keys(object)) {
      if (known.includes(field)) continue
      say(`has a field ${where}${field} that is not known${suggestion(field, known)}`)
    }
  }
  check(document, FIELDS, '')
  if (!isObject(document['containers'])) return
  for (const [name, container] of Object.entries(document['containers'])) {
    check(container, CONTAINER_FIELDS, `containers.${name}.`)
    const runs: unknown = (container as Document | null)?.['runs']
    if (Array.isArray(runs))
      for (const run of runs) check(run, RUN_FIELDS, `containers.${name}.runs.`)
  }
}

function isObject(value: unknown): value is Document {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
