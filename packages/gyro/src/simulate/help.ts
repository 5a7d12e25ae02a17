import { helpPage } from '../flag-help.ts'
import { simulateFlags } from './simulate-flags.ts'

const INTRODUCTION = `Runs a whole cluster on virtual time: a random user works with it while managers crash, events get lost and connections
break, all decided by a seed. Then everything must come to rest at what the specs ask for, and nothing may be written any
more. Exit code 1 when something was not as it must be, with the line that plays it again.

Examples:
  gyro simulate                                          ten virtual minutes of a bad day
  gyro simulate --seed 42 --minutes 60                   an hour that can be repeated
  gyro simulate --seeds 200 --faults crash,gap,pause     many short runs with some faults only
  gyro simulate --explore --scenario 'rolls out'         a fault at every place of one small scenario
  gyro simulate --scenario ./my-scenario.ts              a story of your own under faults
  gyro simulate --seeds 500 --minutes 30 --intensity 2   the size for a night

Usage:
  gyro simulate [flags]

Flags:
`

/** `columns` is the width of the terminal. */
export function helpText(columns: number): string {
  return helpPage(INTRODUCTION, simulateFlags, columns)
}
