/**
 * Gathers what the rules of a DaemonSet need from the caches.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, Sync.
 */
import { keyOf } from '@gyropilot/api'
import type { ControllerRevision, DaemonSet, Node, Pod } from '@gyropilot/api'
import type { Expectations, Lister } from '@gyropilot/runtime'
import {
  CONTROLLER_REVISION_INDEX,
  POD_CONTROLLER_INDEX,
  ownedAndOrphaned,
} from '../workload-support/ownership.ts'

export interface ObservedDaemonSet {
  readonly key: string
  readonly daemonSet: DaemonSet
  /** Whether what was asked for earlier has all come back by now; to be asked before the pods. */
  expectationsMet(): boolean
  /** All of the cluster. */
  nodes(): readonly Node[]
  nodeNamed(name: string): Node | undefined
  /** Pods with this DaemonSet's uid as controller, and the orphans of the namespace, in any phase, as they are by now. */
  pods(): readonly Pod[]
  /** ControllerRevisions likewise. */
  revisions(): readonly ControllerRevision[]
}

export interface DaemonSetListers {
  readonly daemonSets: Lister<DaemonSet>
  readonly pods: Lister<Pod>
  readonly nodes: Lister<Node>
  readonly revisions: Lister<ControllerRevision>
}

export function observe(
  key: string,
  listers: DaemonSetListers,
  expectations: Expectations,
): ObservedDaemonSet | undefined {
  const daemonSet = listers.daemonSets.getByKey(key)
  if (daemonSet === undefined) return undefined
  return {
    key: keyOf(daemonSet),
    daemonSet,
    expectationsMet: () => expectations.satisfied(key),
    nodes: () => listers.nodes.list(),
    nodeNamed: (name) => listers.nodes.get(undefined, name),
    pods: () => ownedAndOrphaned(listers.pods, POD_CONTROLLER_INDEX, daemonSet, 'DaemonSet'),
    revisions: () =>
      ownedAndOrphaned(listers.revisions, CONTROLLER_REVISION_INDEX, daemonSet, 'DaemonSet'),
  }
}
