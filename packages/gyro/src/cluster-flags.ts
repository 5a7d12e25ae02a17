import type { FlagDefinition } from '@gyropilot/manager/flags'

/** Which cluster, for commands that work on any: see named-cluster.ts. */
export const clusterFlags: readonly FlagDefinition[] = [
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
]
