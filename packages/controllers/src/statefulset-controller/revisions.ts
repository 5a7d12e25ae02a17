/**
 * Which revision of its template a set is at, and which it is going to.
 * Contract: docs/behaviour/controllers/statefulset-controller.md, Revisions, History truncation.
 */
import { resources, revisionHash } from '@gyropilot/api'
import type { ControllerRevision, Pod, StatefulSet } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { remove, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { aggregateErrors } from '../workload-support/aggregate-error.ts'
import { sameTemplate } from '../workload-support/pod-template-hash.ts'
import {
  defaultedTemplateOf,
  sameData,
  roundedTemplatePatch,
} from '../revision-support/revision-data.ts'
import { newRevision } from '../revision-support/revision-object.ts'
import { nextRevisionNumber, surplusRevisions } from '../revision-support/revision-order.ts'
import { renumber, storeUnderHash } from '../revision-support/write-revision.ts'
import { revisionOf } from './pod-identity.ts'

const HASH_LABEL = 'controller.kubernetes.io/hash'

export interface SetRevisions {
  readonly current: ControllerRevision
  readonly update: ControllerRevision
  readonly collisionCount: number
}

export interface RevisionRules {
  /** Feature gate StatefulSetSemanticRevisionComparison. */
  readonly semanticRevisions: boolean
  /** The revision of this name in the cache. */
  cached(name: string): ControllerRevision | undefined
}

/** `revisions` are sorted. Creates or renumbers the one of the set's template where that is needed. */
export function* determineRevisions(
  set: StatefulSet,
  revisions: readonly ControllerRevision[],
  rules: RevisionRules,
): Reconcile<Outcome<SetRevisions>> {
  const collisionCount = set.status?.collisionCount ?? 0
  const updated = yield* updateRevision(set, revisions, collisionCount, rules)
  if (!updated.outcome.ok) return updated.outcome
  const update = updated.outcome.object
  const named = revisions.find(({ metadata }) => metadata?.name === set.status?.currentRevision)
  const object = { current: named ?? update, update, collisionCount: updated.collisionCount }
  return { ok: true, object }
}

function* updateRevision(
  set: StatefulSet,
  revisions: readonly ControllerRevision[],
  collisionCount: number,
  { semanticRevisions, cached }: RevisionRules,
) {
  const candidate = candidateOf(set, revisions, collisionCount)
  const newest = revisions.at(-1)
  const equal = revisions.findLast((revision) => sameData(revision, candidate))
  const found = (outcome: Outcome<ControllerRevision>) => ({ outcome, collisionCount })
  if (equal !== undefined) {
    if (equal === newest) return found({ ok: true, object: equal })
    const { name = '' } = equal.metadata ?? {}
    return found(yield* renumber(equal, candidate.revision, () => cached(name)))
  }
  if (semanticRevisions && newest !== undefined && restores(newest, set))
    return found({ ok: true, object: newest })
  const ownerName = set.metadata?.name ?? ''
  return yield* storeUnderHash({ ownerName, revision: candidate, collisionCount })
}

function candidateOf(
  set: StatefulSet,
  revisions: readonly ControllerRevision[],
  collisionCount: number,
): ControllerRevision {
  const { template } = set.spec!
  const patch = roundedTemplatePatch(template)
  return newRevision({
    owner: set,
    ownerType: resources.statefulsets,
    template,
    patch,
    revision: nextRevisionNumber(revisions),
    hash: revisionHash(patch.text, collisionCount),
    hashLabel: HASH_LABEL,
  })
}

/** Whether rolling back to this revision would change nothing, though its data was written otherwise. */
function restores(revision: ControllerRevision, set: StatefulSet): boolean {
  const template = defaultedTemplateOf(revision)
  return template !== undefined && sameTemplate(template, set.spec?.template)
}

/** Deletes what is too old. `revisions` are sorted. Goes on to the next after an error, as nothing depends on it. */
export function* truncateHistory(
  set: StatefulSet,
  revisions: readonly ControllerRevision[],
  pods: readonly Pod[],
  inUse: readonly (string | undefined)[],
): Reconcile<{ readonly error?: unknown }> {
  const live = new Set<string | undefined>([...inUse, ...pods.map(revisionOf)])
  const surplus = surplusRevisions(revisions, {
    limit: set.spec?.revisionHistoryLimit ?? 10,
    isLive: ({ metadata }) => live.has(metadata?.name),
  })
  const errors: unknown[] = []
  for (const revision of surplus) {
    const deleted = yield* write(remove(resources.controllerrevisions, revision))
    if (!deleted.ok && !isNotFound(deleted.error)) errors.push(deleted.error)
  }
  return errors.length === 0 ? {} : { error: aggregateErrors(errors) }
}
