/** The flags of `gyro down`. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'
import { processFlag } from '../running/which.ts'

export const downFlags: readonly FlagDefinition[] = [
  {
    name: 'all',
    shorthand: 'a',
    type: 'bool',
    default: 'false',
    help: 'The clusters of all folders, not only of this one.',
  },
  processFlag,
  {
    name: 'timeout',
    type: 'duration',
    default: '30s',
    help: 'How long to wait for the end of each.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro down.' },
]

export const downHelp = `Stops the cluster of this folder, waits for its end, and takes its entries out of the kubeconfig that it was merged into.
It does not matter whether it was started with --detach. A data directory stays, and with it the cluster for the next time.

Examples:
  gyro down
  gyro down --process 4711      one of several, as gyro status --all shows them
  gyro down --all               every cluster of this user

Exit codes: 0 it has ended, or none ran; 1 it did not end in time, may not be stopped, or several run in this folder; 2 the
command line is wrong.

Usage:
  gyro down [flags]

Flags:
`
