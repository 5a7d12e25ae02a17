/**
 * Pods are made of a revision that is there, and it stays while its owner has pods of it: without it nobody could make one of them
 * anew. That of another, as of a namesake that is gone, may go with its owner.
 */
import type { ControllerRevision, KubernetesObject, Pod } from '@gyropilot/api'
import { controllerOf, isPodActive, resources } from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { Objects } from '../simulated/objects.ts'
import type { Report } from './violation.ts'

/** Longer than any single disturbance of a fault plan. */
const WINDOW_MS = 120_000

const HASH_LABEL = 'controller-revision-hash'

export function liveRevisions(report: Report, clock: Clock, objects: Objects): ClusterObserver {
  /** A leader that starts from an old list cannot know of the pods that came later. */
  let staleListMs = -Infinity
  /** When a revision went, by its kind and hash: who makes a pod may learn of it late. */
  const goneMs = new Map<string, number>()

  const isRecent = (ms: number | undefined): boolean =>
    ms !== undefined && clock.monotonicMs() - ms < WINDOW_MS

  function checkDeleted(revision: ControllerRevision): void {
    const { namespace, name } = revision.metadata ?? {}
    goneMs.set(`${namespace}/${hashOf(revision)}`, clock.monotonicMs())
    const owner = ownerOf(revision)
    if (owner === undefined || isGoing(owner) || isGoing(namespaceOf(revision))) return
    if (isRecent(staleListMs)) return
    const isOfOwner = (object: KubernetesObject): boolean =>
      controllerOf(object)?.uid === owner.metadata?.uid
    // Of two with one hash either may go.
    const hash = hashOf(revision)
    if (revisionsOf(hash, namespace).some(isOfOwner)) return
    for (const pod of objects.all(resources.pods, namespace))
      if (isOfOwner(pod) && isPodActive(pod) && pod.metadata?.labels?.[HASH_LABEL] === hash)
        report(
          'live revisions',
          `revision ${namespace}/${name} is gone, and pod ${pod.metadata?.name} of its ${owner.kind} is of it`,
        )
  }

  function checkCreated(pod: Pod): void {
    const { namespace, name, labels } = pod.metadata ?? {}
    const hash = labels?.[HASH_LABEL]
    if (hash === undefined || controllerOf(pod)?.apiVersion !== 'apps/v1') return
    if (revisionsOf(hash, namespace).length > 0 || isRecent(goneMs.get(`${namespace}/${hash}`)))
      return
    report(
      'live revisions',
      `pod ${namespace}/${name} was made of revision ${hash}, which is not there`,
    )
  }

  const revisionsOf = (
    hash: string | undefined,
    namespace: string | undefined,
  ): readonly ControllerRevision[] =>
    objects
      .all(resources.controllerrevisions, namespace)
      .filter((revision) => hashOf(revision) === hash)

  const namespaceOf = ({ metadata }: KubernetesObject): KubernetesObject | undefined =>
    objects.find(resources.namespaces, undefined, metadata?.namespace ?? '')

  /** The object that has the uid of the reference. */
  function ownerOf(revision: ControllerRevision): KubernetesObject | undefined {
    const reference = controllerOf(revision)
    const type = reference?.kind === 'DaemonSet' ? resources.daemonsets : resources.statefulsets
    const owner: KubernetesObject | undefined = objects.find<KubernetesObject>(
      type,
      revision.metadata?.namespace,
      reference?.name ?? '',
    )
    return owner?.metadata?.uid === reference?.uid ? owner : undefined
  }

  return {
    answeredStale({ verb, collection }) {
      if (verb === 'list' && collection === 'pods') staleListMs = clock.monotonicMs()
    },
    committed({ type, collection, object }) {
      if (type === 'deleted' && collection === 'controllerrevisions.apps')
        checkDeleted(object as ControllerRevision)
      if (type === 'created' && collection === 'pods') checkCreated(object as Pod)
    },
  }
}

function isGoing(object: KubernetesObject | undefined): boolean {
  return object?.metadata?.deletionTimestamp !== undefined
}

/** What pods of the revision have in their label: a DaemonSet's the hash, a StatefulSet's the name. */
function hashOf({ metadata }: ControllerRevision): string | undefined {
  return metadata?.labels?.[HASH_LABEL] ?? metadata?.name
}
