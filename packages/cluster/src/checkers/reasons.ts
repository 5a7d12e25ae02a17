import type { KubernetesObject, LabelSelector } from '@gyropilot/api'
import { controllerOf, labelQueryOf, labelQueryOfLabels } from '@gyropilot/api'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { Objects } from '../simulated/objects.ts'
import type { Report } from './violation.ts'

/** What controllers make for somebody: without an owner it would be there for nobody. */
const MADE_FOR_SOMEBODY = new Set([
  'pods',
  'replicasets.apps',
  'controllerrevisions.apps',
  'jobs.batch',
  'endpointslices.discovery.k8s.io',
])
/** An annotation that a user sets who cuts an object off from its owner himself. */
export const CUT_OFF = 'example.com/cut-off'
const MANAGER = 'kube-controller-manager'

/**
 * No object without a reason: what a controller makes names its owner, and an object loses its owner only because it does not
 * match any more, because its owner was deleted to leave it, or because the owner is gone. (That the owner exists in the end
 * is an end-state rule.)
 */
export function reasons(report: Report, objects: Objects): ClusterObserver {
  const find = (uid: string): KubernetesObject | undefined => {
    for (const { object } of objects.everything()) if (object.metadata?.uid === uid) return object
    return undefined
  }
  /** Also of those that were deleted again with another policy before it was done. */
  const leaving = new Set<string>()
  return {
    committed({ type, collection, object, previous }) {
      if (leavesDependents(object as KubernetesObject))
        leaving.add((object as KubernetesObject).metadata?.uid ?? '')
      if (!MADE_FOR_SOMEBODY.has(collection) || type === 'deleted') return
      const made = object as KubernetesObject
      if (type === 'created') {
        if (makerOf(made) === MANAGER && controllerOf(made) === undefined)
          report('reasons', `${textOf(made)} was made by a controller and has no owner`)
        return
      }
      const before = controllerOf((previous ?? {}) as KubernetesObject)
      if (before === undefined || controllerOf(made)?.uid === before.uid) return
      if (cutOff(made) !== cutOff(previous as KubernetesObject)) return
      const owner = find(before.uid)
      if (owner === undefined || leaving.has(before.uid) || !selects(owner, made)) return
      if ((previous as KubernetesObject).metadata?.deletionTimestamp !== undefined) return
      report('reasons', `${textOf(made)} was taken from ${owner.kind} ${before.name} without cause`)
    },
  }
}

function cutOff({ metadata }: KubernetesObject): string | undefined {
  return metadata?.annotations?.[CUT_OFF]
}

function makerOf({ metadata }: KubernetesObject): string | undefined {
  const [first] = metadata?.managedFields ?? []
  return first?.manager
}

function leavesDependents({ metadata }: KubernetesObject): boolean {
  return (
    metadata?.deletionTimestamp !== undefined && metadata.finalizers?.includes('orphan') === true
  )
}

function selects(owner: KubernetesObject, { metadata }: KubernetesObject): boolean {
  const { selector } = (owner as { spec?: { selector?: LabelSelector } }).spec ?? {}
  if (selector === undefined) return true
  // Services and ReplicationControllers select by a plain set of labels.
  const isPlain = owner.kind === 'Service' || owner.kind === 'ReplicationController'
  const query = isPlain
    ? labelQueryOfLabels(selector as Readonly<Record<string, string>>)
    : labelQueryOf(selector)
  return query.matches(metadata?.labels)
}

function textOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata?.namespace}/${metadata?.name}`
}
