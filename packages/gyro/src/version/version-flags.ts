/** The flags of `gyro version`. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'

export const versionFlags: readonly FlagDefinition[] = [
  {
    name: 'output',
    shorthand: 'o',
    type: 'string',
    values: ['text', 'json'],
    default: 'text',
    help: 'text, or json: one object.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro version.' },
]

export const versionHelp = `Prints the version of gyro, and of the Kubernetes that its clusters are.

Examples:
  gyro version
  gyro version --output json | jq -r .kubernetes

Usage:
  gyro version [flags]

Flags:
`
