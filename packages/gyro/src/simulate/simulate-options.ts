/** What `gyro simulate` was asked for. Pure. */
import { DISTURBANCES, FAULT_KINDS } from '@gyropilot/cluster'
import type { Disturbance, FaultKind } from '@gyropilot/cluster'
import { suggestion } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { flagsOf } from '../flags.ts'
import { simulateFlags } from './simulate-flags.ts'

/** One schedule of an exploration. */
interface Place {
  readonly disturbance: Disturbance
  readonly position: number
}

export interface SimulateOptions {
  /** Empty: a random one. */
  readonly seed: string
  readonly seeds: number
  readonly minutes: number
  readonly faults: readonly FaultKind[]
  readonly intensity: number
  readonly nodes: number
  readonly managers: number
  readonly cloud: boolean
  readonly podGroups: boolean
  /** In seconds. */
  readonly pause: number
  readonly scenario: string
  readonly explore: boolean
  readonly stride: number
  /** Undefined: all. */
  readonly only: Place | undefined
  /** Replays; 0: none. */
  readonly shrink: number
  /** JSON or a file name; empty: a random one. */
  readonly schedule: string
  readonly output: 'text' | 'json'
  readonly help: boolean
}

const MOST_MINUTES = 7 * 24 * 60
/** What small worlds have in the place of the flags of a run. */
const OF_EXPLORING = ['stride', 'only']
const OF_RUNS = [
  'seeds',
  'minutes',
  'faults',
  'intensity',
  'nodes',
  'cloud',
  'pod-groups',
  'pause',
  'managers',
  'shrink',
  'schedule',
]

export function simulateOptions(args: readonly string[]): SimulateOptions {
  // Exit code 1 is kept for runs in which something was not as it must be.
  const { values, given } = flagsOf(simulateFlags, args, 'gyro simulate', invalid)
  const explore = values.get('explore') as boolean
  const idle = (explore ? OF_RUNS : OF_EXPLORING).find((name) => given.has(name))
  if (idle !== undefined)
    throw invalid(`--${idle} has no effect ${explore ? 'with' : 'without'} --explore`)
  return {
    seed: values.get('seed') as string,
    seeds: inRange('seeds', values.get('seeds') as number, 1, 1_000_000),
    minutes: inRange('minutes', values.get('minutes') as number, 0, MOST_MINUTES),
    faults: faultKinds(values.get('faults') as readonly string[]),
    intensity: inRange('intensity', values.get('intensity') as number, 0, 100),
    nodes: inRange('nodes', values.get('nodes') as number, 0, 1_000),
    managers: inRange('managers', values.get('managers') as number, 1, 9),
    cloud: values.get('cloud') as boolean,
    podGroups: values.get('pod-groups') as boolean,
    pause: inRange('pause', values.get('pause') as number, 0.1, 3_600),
    scenario: values.get('scenario') as string,
    explore,
    stride: inRange('stride', values.get('stride') as number, 1, 1_000_000),
    only: placeOf(values.get('only') as string),
    shrink: inRange('shrink', values.get('shrink') as number, 0, 1_000_000),
    schedule: values.get('schedule') as string,
    output: values.get('output') as 'text' | 'json',
    help: values.get('help') as boolean,
  }
}

function faultKinds(names: readonly string[]): readonly FaultKind[] {
  const kinds = new Set<FaultKind>()
  for (const name of names) {
    if (name === 'all') for (const kind of FAULT_KINDS) kinds.add(kind)
    else if ((FAULT_KINDS as readonly string[]).includes(name)) kinds.add(name as FaultKind)
    else if (name !== 'none') {
      const usage = `: use all, none or some of ${FAULT_KINDS.join(', ')}`
      const meant = suggestion(name, ['all', 'none', ...FAULT_KINDS])
      throw invalid(`--faults names ${JSON.stringify(name)}${meant || usage}`)
    }
  }
  return [...kinds]
}

function placeOf(text: string): Place | undefined {
  if (text === '') return undefined
  const [, name, position] = /^(.*) (\d+)$/.exec(text) ?? []
  const disturbance = DISTURBANCES.find((known) => known === name)
  if (disturbance !== undefined) return { disturbance, position: Number(position) }
  throw invalid(
    `--only=${text} is no disturbance with its position: use one of ${DISTURBANCES.join(', ')}, then a number`,
  )
}

function inRange(name: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value
  throw invalid(`--${name}=${value} is out of range: use ${least} to ${most}`)
}

function invalid(message: string, cause?: unknown): Error {
  return gyroErrors.make('SIMULATE_FLAG_INVALID', message, { cause })
}
