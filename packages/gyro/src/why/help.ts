import { helpPage } from '../flag-help.ts'
import { whyFlags } from './why-flags.ts'

const INTRODUCTION = `Says what a deletion waits for, on any cluster, and only reads: the chain from the object down to the one that holds, who
removes each finalizer, since when it waits and what would release it. Finalizers, dependents that block their owner,
what is left in a namespace, kinds that cannot be listed, webhooks that nobody answers, pods that still end.

Examples:
  gyro why namespace/team-a                      a namespace that stays Terminating
  gyro why pod/web-0 -n shop                     a pod whose node may be gone
  gyro why deploy web -n shop                    short names, singular and plural, as in kubectl
  gyro why widgets.example.com/blue              the group, where two have a kind of that name
  gyro why pvc/data --context production         another cluster of the kubeconfig
  gyro why namespace/team-a --output json        the same as one JSON object

Exit codes: 0 the answer is printed, also when nothing is being deleted; 1 there is no such object or the cluster
cannot be read; 2 the command line or the kind is wrong.

Usage:
  gyro why KIND/NAME [flags]

Flags:
`

/** `columns` is the width of the terminal. */
export function helpText(columns: number): string {
  return helpPage(INTRODUCTION, whyFlags, columns)
}
