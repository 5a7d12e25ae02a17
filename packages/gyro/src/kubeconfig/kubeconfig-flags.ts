/** The flags of `gyro kubeconfig`. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'
import { processFlag } from '../running/which.ts'

export const kubeconfigFlags: readonly FlagDefinition[] = [
  {
    name: 'merge',
    type: 'bool',
    default: 'false',
    help: 'Put the cluster into ~/.kube/config, or the file of KUBECONFIG, and make it the current context.',
  },
  processFlag,
  {
    name: 'help',
    shorthand: 'h',
    type: 'bool',
    default: 'false',
    help: 'Help for gyro kubeconfig.',
  },
]

export const kubeconfigHelp = `Prints the kubeconfig of the cluster that runs in this folder, or merges it into the one that kubectl reads. Merged, context,
cluster and user are called gyro-FOLDER, after the folder of the cluster; they are taken out again when it ends. Nothing
else in the file is touched; an entry of that name that is not of gyro is refused.

Examples:
  gyro kubeconfig > ci.kubeconfig
  gyro kubeconfig --merge && kubectl get nodes

Exit codes: 0 done; 1 no cluster runs here, several do, or the file cannot be written; 2 the command line is wrong.

Usage:
  gyro kubeconfig [flags]

Flags:
`
