import { readFileSync } from 'node:fs'
import type { Schedule } from '@gyropilot/cluster'
import { fileProblem } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'

/** The value of --schedule: JSON as a failing run printed it, or a file that holds it. */
export function readSchedule(argument: string): Schedule {
  let entries: unknown
  try {
    const isText = /^\s*[[{]/.test(argument)
    entries = JSON.parse(isText ? argument : readFileSync(argument, 'utf8'))
  } catch (error) {
    throw unusable(fileProblem(error), error)
  }
  if (!Array.isArray(entries)) throw unusable('it must be a JSON array of entries')
  for (const [index, entry] of entries.entries()) {
    const problem = problemOf(entry)
    if (problem !== undefined) throw unusable(`entry ${index} ${problem}`)
  }
  return entries as Schedule
}

/** What an entry of each form has besides. */
const FORMS: Readonly<Record<string, Readonly<Record<string, 'number' | 'string' | 'object'>>>> = {
  operation: { operation: 'string', step: 'number' },
  world: { world: 'object' },
  request: { request: 'object', ordinal: 'number', fault: 'object' },
  event: { event: 'object', ordinal: 'number', fault: 'object' },
}

function problemOf(entry: unknown): string | undefined {
  if (typeof entry !== 'object' || entry === null) return 'is no object'
  const fields = new Map<string, unknown>(Object.entries(entry))
  if (typeof fields.get('atMs') !== 'number') return 'has no number atMs'
  const [, needed] = Object.entries(FORMS).find(([form]) => fields.has(form)) ?? []
  if (needed === undefined) return `has none of ${Object.keys(FORMS).join(', ')}`
  for (const [name, type] of Object.entries(needed)) {
    const value = fields.get(name)
    if (typeof value !== type || value === null) return `has no ${type} ${name}`
  }
  return undefined
}

function unusable(problem: string, cause?: unknown): Error {
  return gyroErrors.make('SIMULATE_FLAG_INVALID', `--schedule: ${problem}`, { cause })
}
