/** What `gyro simulate` was asked for. Pure. */
import { FAULT_KINDS } from '@gyropilot/cluster'
import type { FaultKind } from '@gyropilot/cluster'
import { parseFlags } from '@gyropilot/manager/flags'
import { gyroErrors } from '../errors.ts'
import { simulateFlags } from './simulate-flags.ts'

export interface SimulateOptions {
  /** Empty: a random one. */
  readonly seed: string
  readonly seeds: number
  readonly minutes: number
  readonly faults: readonly FaultKind[]
  readonly intensity: number
  readonly nodes: number
  readonly managers: number
  readonly scenario: string
  readonly explore: boolean
  readonly stride: number
  readonly output: 'text' | 'json'
  readonly help: boolean
}

const MOST_MINUTES = 7 * 24 * 60

export function simulateOptions(args: readonly string[]): SimulateOptions {
  const { values } = parseFlags(simulateFlags, args, 'gyro simulate')
  const output = values.get('output') as string
  if (output !== 'text' && output !== 'json')
    throw invalid(`--output=${output} is not known: use text or json`)
  return {
    seed: values.get('seed') as string,
    seeds: inRange('seeds', values.get('seeds') as number, 1, 1_000_000),
    minutes: inRange('minutes', values.get('minutes') as number, 0, MOST_MINUTES),
    faults: faultKinds(values.get('faults') as readonly string[]),
    intensity: inRange('intensity', values.get('intensity') as number, 0, 100),
    nodes: inRange('nodes', values.get('nodes') as number, 0, 1_000),
    managers: inRange('managers', values.get('managers') as number, 1, 9),
    scenario: values.get('scenario') as string,
    explore: values.get('explore') as boolean,
    stride: inRange('stride', values.get('stride') as number, 1, 1_000_000),
    output,
    help: values.get('help') as boolean,
  }
}

function faultKinds(names: readonly string[]): readonly FaultKind[] {
  const kinds = new Set<FaultKind>()
  for (const name of names) {
    if (name === 'all') for (const kind of FAULT_KINDS) kinds.add(kind)
    else if ((FAULT_KINDS as readonly string[]).includes(name)) kinds.add(name as FaultKind)
    else if (name !== 'none') {
      throw invalid(
        `--faults names ${JSON.stringify(name)}: use all, none or some of ${FAULT_KINDS.join(', ')}`,
      )
    }
  }
  return [...kinds]
}

function inRange(name: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value
  throw invalid(`--${name}=${value} is out of range: use ${least} to ${most}`)
}

function invalid(message: string): Error {
  return gyroErrors.make('SIMULATE_FLAG_INVALID', message)
}
