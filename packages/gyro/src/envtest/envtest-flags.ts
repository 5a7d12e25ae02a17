/** The flags of `gyro envtest`. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'

export const envtestFlags: readonly FlagDefinition[] = [
  {
    name: 'dir',
    type: 'string',
    default: '',
    help: 'Folder the three programs are put in. Default: gyropilot/envtest in $XDG_CACHE_HOME or ~/.cache.',
  },
  {
    name: 'kubectl',
    type: 'string',
    default: '',
    help: 'The kubectl to put beside them. Default: the one on PATH.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro envtest.' },
]
