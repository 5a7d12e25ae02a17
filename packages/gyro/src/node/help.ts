import { helpPage } from '../flag-help.ts'
import { nodeFlags } from './node-flags.ts'

const INTRODUCTION = `Turns the machine of a simulated node off and on again. Off, it says nothing any more: the cluster finds out by itself,
calls the node not ready after some 50 s, taints it, and drives its pods out when their tolerations end (300 s unless they say
otherwise). On again, what had run there has died and is started anew, and what was to be deleted goes.

Examples:
  gyro node stop node-2                   until somebody starts it
  gyro node stop node-2 node-3 --for 10m  started again ten minutes later
  gyro node stop node-2 --after 1m        a minute from now
  gyro node start node-2

Exit codes: 0 the node was told; 1 there is no such node, it is not a simulated one, or the cluster cannot be reached; 2 the
command line is wrong.

Usage:
  gyro node stop|start NAME... [flags]

Flags:
`

/** `columns` is the width of the terminal. */
export function helpText(columns: number): string {
  return helpPage(INTRODUCTION, nodeFlags, columns)
}
