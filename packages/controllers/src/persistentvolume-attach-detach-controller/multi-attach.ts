/** What pods are told whose volume another node has. Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Events. Pure. */
import type { Pod } from '@gyropilot/api'

/** `users`: pods that are known to use the volume at the other nodes. Names of pods are not told across namespaces. */
export function refusalMessage(pod: Pod, users: readonly Pod[]): string {
  if (users.length === 0)
    return "Volume is already exclusively attached to one node and can't be attached to another"
  const { namespace } = pod.metadata ?? {}
  const near = users.filter(({ metadata }) => metadata?.namespace === namespace)
  const elsewhere = `${users.length - near.length} pod(s) in different namespaces`
  if (near.length === 0) return `Volume is already used by ${elsewhere}`
  const names = near.map(({ metadata }) => metadata?.name).toSorted()
  const used = `Volume is already used by pod(s) ${names.join(', ')}`
  return near.length === users.length ? used : `${used} and ${elsewhere}`
}
