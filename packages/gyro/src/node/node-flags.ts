/** The flags of `gyro node`. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'

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
  {
    name: 'kubeconfig',
    type: 'string',
    default: '',
    help: 'File that names the cluster. Default: those of KUBECONFIG, else ~/.kube/config.',
  },
  {
    name: 'context',
    type: 'string',
    default: '',
    help: 'Context of the kubeconfig. Default: its current one.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro node.' },
]
