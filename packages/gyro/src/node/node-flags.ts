/** The flags of `gyro node`. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'
import { clusterFlags } from '../cluster-flags.ts'

export const nodeFlags: readonly FlagDefinition[] = [
  {
    name: 'after',
    type: 'duration',
    default: '0s',
    help: 'With stop: not at once, but so much later.',
  },
  {
    name: 'for',
    type: 'duration',
    default: '0s',
    help: 'With stop: started again so long after. 0: when somebody starts it.',
  },
  ...clusterFlags,
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro node.' },
]
