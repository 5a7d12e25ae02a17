import { readFileSync } from 'node:fs'
import type { Schedule } from '@gyropilot/cluster'
import { errorText } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'

/** The value of --schedule: JSON as a failing run printed it, or a file that holds it. */
export function readSchedule(argument: string): Schedule {
  let entries: unknown
  try {
    const isText = /^\s*[[{]/.test(argument)
    entries = JSON.parse(isText ? argument : readFileSync(argument, 'utf8'))
  } catch (error) {
    throw unusable(errorText(error), error)
  }
  if (!Array.isArray(entries)) throw unusable('it must be a JSON array of entries')
  for (const [index, entry] of entries.entries()) {
    const problem = problemOf(entry)
    if (problem !== undefined) throw unusable(`entry ${index} ${problem}`)
  }
  return entries as Schedule
}

const FORMS = ['operation', 'world', 'request', 'event']

function problemOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null) return 'is no object'
  if (typeof (entry as { atMs?: unknown }).atMs !== 'number') return 'has no number atMs'
  if (!FORMS.some((form) => form in entry)) return `has none of ${FORMS.join(', ')}`
  return undefined
}

function unusable(problem: string, cause?: unknown): Error {
  return gyroErrors.make('SIMULATE_FLAG_INVALID', `--schedule: ${problem}`, { cause })
}
