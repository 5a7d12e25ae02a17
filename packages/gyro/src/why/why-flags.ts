/** The flags of `gyro why`. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'
import { clusterFlags } from '../cluster-flags.ts'

export const whyFlags: readonly FlagDefinition[] = [
  {
    name: 'namespace',
    shorthand: 'n',
    type: 'string',
    default: '',
    help: 'Namespace of the object. Default: that of the context, else default.',
  },
  ...clusterFlags,
  {
    name: 'output',
    shorthand: 'o',
    type: 'string',
    values: ['text', 'json'],
    default: 'text',
    help: 'text, or json: one object.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro why.' },
]
