/** The flags of `gyro why`. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'

export const whyFlags: readonly FlagDefinition[] = [
  {
    name: 'namespace',
    shorthand: 'n',
    type: 'string',
    default: '',
    help: 'Namespace of the object. Default: that of the context, else default.',
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
  {
    name: 'output',
    shorthand: 'o',
    type: 'string',
    default: 'text',
    help: 'text, or json: one object.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro why.' },
]
