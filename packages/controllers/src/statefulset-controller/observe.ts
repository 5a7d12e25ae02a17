/**
 * Gathers what the rules of a StatefulSet need from the caches.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Sync.
 */
import type { ControllerRevision, PersistentVolumeClaim, Pod, StatefulSet } from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'
import {
  CONTROLLER_REVISION_INDEX,
  POD_CONTROLLER_INDEX,
  ownedAndOrphaned,
} from '../workload-support/ownership.ts'
import type { Caches } from './pod-writes.ts'

export interface ObservedStatefulSet extends Caches {
  readonly set: StatefulSet
  /** Pods with this set's uid as controller, and the orphans of the namespace, in any phase. */
  readonly pods: readonly Pod[]
  /** The same of revisions. */
  readonly revisions: readonly ControllerRevision[]
  /** What the cache says now, of an object of the set's namespace. */
  revision(name: string): ControllerRevision | undefined
  current(): StatefulSet | undefined
}

interface StatefulSetListers {
  readonly sets: Lister<StatefulSet>
  readonly pods: Lister<Pod>
  readonly claims: Lister<PersistentVolumeClaim>
  readonly revisions: Lister<ControllerRevision>
}

export function observe(key: string, listers: StatefulSetListers): ObservedStatefulSet | undefined {
  const set = listers.sets.getByKey(key)
  if (set === undefined) return undefined
  const { namespace } = set.metadata ?? {}
  const kind = 'StatefulSet'
  return {
    set,
    pods: ownedAndOrphaned(listers.pods, POD_CONTROLLER_INDEX, set, kind),
    revisions: ownedAndOrphaned(listers.revisions, CONTROLLER_REVISION_INDEX, set, kind),
    claim: (name) => listers.claims.get(namespace, name),
    pod: (name) => listers.pods.get(namespace, name),
    revision: (name) => listers.revisions.get(namespace, name),
    current: () => listers.sets.getByKey(key),
  }
}
