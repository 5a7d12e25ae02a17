/**
 * The templates a DaemonSet has had, as ControllerRevisions, and which of them is the one it has now.
 * Contract: docs/behaviour/controllers/daemonset-controller.md, History.
 */
import { resources } from '@gyropilot/api'
import type { ControllerRevision, DaemonSet, KubernetesObject, Pod } from '@gyropilot/api'
import { getLive, patch, remove, update, updateStatus, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { dataText, templatePatch } from '../revision-support/revision-data.ts'
import { newRevision } from '../revision-support/revision-object.ts'
import {
  nextRevisionNumber,
  sortedRevisions,
  surplusRevisions,
} from '../revision-support/revision-order.ts'
import { storeRevision } from '../revision-support/write-revision.ts'
import { claim } from '../workload-support/claim.ts'
import type { Claimed } from '../workload-support/claim.ts'
import { podTemplateHash } from '../workload-support/pod-template-hash.ts'
import { DEFAULT_HISTORY_LIMIT } from './config.ts'
import { HASH_LABEL } from './daemon-pod.ts'

type History =
  | {
      readonly ok: true
      readonly current: ControllerRevision
      /** Of other templates, oldest first. */
      readonly old: readonly ControllerRevision[]
      /** Pods in the cache have labels that they no longer have. */
      readonly podsRelabelled: boolean
    }
  | { readonly ok: false; readonly error: unknown }

interface HistoryInput {
  readonly daemonSet: DaemonSet
  matches(revision: ControllerRevision): boolean
  /** Owned revisions and orphans of the namespace. */
  readonly revisions: readonly ControllerRevision[]
  /** Claims the DaemonSet's pods; asked for only when there are duplicates. */
  claimPods(): Reconcile<Claimed<Pod>>
}

type Found =
  | { readonly ok: true; readonly revision: ControllerRevision; readonly podsRelabelled?: boolean }
  | { readonly ok: false; readonly error: unknown }

/** Finds the revision of the current template, or makes it. */
export function* constructHistory(input: HistoryInput): Reconcile<History> {
  const { daemonSet } = input
  // 1.
  const claimed = yield* claim(
    {
      owner: daemonSet,
      ownerType: resources.daemonsets,
      type: resources.controllerrevisions,
      matches: input.matches,
    },
    input.revisions,
  )
  if (claimed.error !== undefined) return { ok: false, error: claimed.error }
  // 3.
  const { text } = templatePatch(daemonSet.spec?.template ?? {})
  const matching: ControllerRevision[] = []
  const old: ControllerRevision[] = []
  for (const each of sortedRevisions(claimed.objects)) {
    // 2.
    const labelled = yield* withHashLabel(each)
    if (!labelled.ok) return labelled
    const { revision } = labelled
    if (dataText(revision) === text) matching.push(revision)
    else old.push(revision)
  }
  // 4.
  const number = nextRevisionNumber(old)
  const found =
    matching.length === 0
      ? yield* createRevision(daemonSet, number)
      : yield* renumbered(yield* withoutDuplicates(matching, input), number)
  if (!found.ok) return found
  return { ok: true, current: found.revision, old, podsRelabelled: found.podsRelabelled ?? false }
}

/** Revisions of old managers had none. */
function* withHashLabel(revision: ControllerRevision): Reconcile<Found> {
  const { name = '', labels } = revision.metadata ?? {}
  if (labels?.[HASH_LABEL] !== undefined) return { ok: true, revision }
  const metadata = { ...revision.metadata, labels: { ...labels, [HASH_LABEL]: name } }
  return yield* updated({ ...revision, metadata })
}

function* renumbered(found: Found, number: number): Reconcile<Found> {
  if (!found.ok || found.revision.revision >= number) return found
  const renumbered = yield* updated({ ...found.revision, revision: number })
  return { ...found, ...renumbered }
}

function* updated(revision: ControllerRevision): Reconcile<Found> {
  const outcome = yield* write(update(resources.controllerrevisions, revision))
  return outcome.ok ? { ok: true, revision: outcome.object } : outcome
}

/** The newest of several revisions of one template; the others go once no pod names them. */
function* withoutDuplicates(
  matching: readonly ControllerRevision[],
  { claimPods }: HistoryInput,
): Reconcile<Found> {
  const revision = matching.at(-1)!
  const duplicates = matching.slice(0, -1)
  if (duplicates.length === 0) return { ok: true, revision }
  const hash = hashOf(revision)
  const pods = yield* claimPods()
  if (pods.error !== undefined) return { ok: false, error: pods.error }
  // Not those of other templates: they would count as updated, and stay as they are.
  const former = new Set(duplicates.map(hashOf))
  const others = pods.objects.filter((pod) => hashOf(pod) !== hash && former.has(hashOf(pod)))
  for (const pod of others) {
    const value = { metadata: { labels: { [HASH_LABEL]: hash } } }
    const relabelled = yield* write(patch(resources.pods, pod, { type: 'merge', value }))
    if (!relabelled.ok) return relabelled
  }
  for (const duplicate of duplicates) {
    const deleted = yield* write(remove(resources.controllerrevisions, duplicate))
    if (!deleted.ok) return deleted
  }
  return { ok: true, revision, podsRelabelled: others.length > 0 }
}

function hashOf({ metadata }: KubernetesObject): string {
  return metadata?.labels?.[HASH_LABEL] ?? ''
}

// 5.
function* createRevision(daemonSet: DaemonSet, number: number): Reconcile<Found> {
  const template = daemonSet.spec?.template ?? {}
  const collisionCount = daemonSet.status?.collisionCount
  const revision = newRevision({
    owner: daemonSet,
    ownerType: resources.daemonsets,
    template,
    patch: templatePatch(template),
    revision: number,
    hash: podTemplateHash(template, collisionCount),
    hashLabel: HASH_LABEL,
  })
  const stored = yield* storeRevision(revision)
  if (stored.kind === 'stored') return { ok: true, revision: stored.revision }
  if (stored.kind === 'failed') return { ok: false, error: stored.error }
  const { namespace, name = '' } = daemonSet.metadata ?? {}
  const live = yield* getLive(resources.daemonsets, namespace, name)
  if (!live.ok) return live
  const { status } = live.object
  if (status?.collisionCount !== collisionCount) {
    const error = new Error(
      `found a stale collision count (${collisionCount}, expected ${status?.collisionCount}) of DaemonSet "${name}" while processing; will retry until it is updated`,
    )
    return { ok: false, error }
  }
  const counted = { ...status!, collisionCount: (collisionCount ?? 0) + 1 }
  const written = yield* write(
    updateStatus(resources.daemonsets, { ...live.object, status: counted }),
  )
  return { ok: false, error: written.ok ? stored.error : written.error }
}

/** Deletes the oldest revisions beyond the limit that no pod is of. Answers the error, if any. */
export function* cleanUpHistory(
  { spec }: DaemonSet,
  old: readonly ControllerRevision[],
  pods: readonly Pod[],
): Reconcile<unknown> {
  const limit = spec?.revisionHistoryLimit ?? DEFAULT_HISTORY_LIMIT
  if (old.length <= limit) return undefined
  const used = new Set(pods.map(({ metadata }) => metadata?.labels?.[HASH_LABEL]))
  const surplus = surplusRevisions(old, {
    limit,
    isLive: ({ metadata }) => used.has(metadata?.labels?.[HASH_LABEL]),
    liveCount: true,
  })
  for (const revision of surplus) {
    const deleted = yield* write(remove(resources.controllerrevisions, revision))
    if (!deleted.ok) return deleted.error
  }
  return undefined
}
