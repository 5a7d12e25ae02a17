/** The flags of `gyro status`. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'
import { processFlag } from '../running/which.ts'

export const statusFlags: readonly FlagDefinition[] = [
  {
    name: 'all',
    shorthand: 'a',
    type: 'bool',
    default: 'false',
    help: 'The clusters of all folders, not only of this one.',
  },
  processFlag,
  {
    name: 'output',
    shorthand: 'o',
    type: 'string',
    values: ['text', 'json'],
    default: 'text',
    help: 'text, or json: one object with the list clusters.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro status.' },
]

export const statusHelp = `Says what runs in this folder: address, since when, nodes and pods, memory, and where its files are. Clusters of other
folders and of other users are not meant, unless --all asks for the folders of this user.

Examples:
  gyro status
  gyro status --all
  gyro status --output json | jq -r '.clusters[0].server'

Exit codes: 0 a cluster runs, also when it does not answer; 1 none does; 2 the command line is wrong.

Usage:
  gyro status [flags]

Flags:
`
