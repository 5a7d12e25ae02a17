/**
 * Annotations of Deployments and their ReplicaSets.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Annotations.
 */
import type { Deployment, KubernetesObject, ReplicaSet } from '@gyropilot/api'
import { maxReplicasOf, replicasOf } from './numbers.ts'

export const REVISION = 'deployment.kubernetes.io/revision'
const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history'
const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas'
const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas'
export const ROLLBACK_TO = 'deprecated.deployment.rollback.to'

type Annotations = Readonly<Record<string, string>>

const LONGEST_REVISION_HISTORY = 2000
const MAX_INT32 = 2_147_483_647

/** Annotations that stay with the object they are on. */
const NOT_COPIED: ReadonlySet<string> = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  ROLLBACK_TO,
])

export function annotationsOf(object: KubernetesObject): Annotations {
  return object.metadata?.annotations ?? {}
}

/**
 * The rollout number, an int64 that a ReplicaSet may have been given by anybody; 0 without one,
 * undefined when it is no integer.
 */
export function revisionOf(object: KubernetesObject): bigint | undefined {
  const text = annotationsOf(object)[REVISION]
  return text === undefined ? 0n : int64Of(text)
}

export function highestRevision(replicaSets: readonly ReplicaSet[]): bigint {
  let highest = 0n
  for (const replicaSet of replicaSets) {
    const revision = revisionOf(replicaSet) ?? 0n
    if (revision > highest) highest = revision
  }
  return highest
}

/** The second highest revision, 0 when there are no two. */
export function previousRevision(replicaSets: readonly ReplicaSet[]): bigint {
  let highest = 0n
  let second = 0n
  for (const replicaSet of replicaSets) {
    const revision = revisionOf(replicaSet) ?? 0n
    if (revision >= highest) {
      second = highest
      highest = revision
    } else if (revision > second) second = revision
  }
  return second
}

/**
 * The Deployment's size when the ReplicaSet was last scaled; undefined when absent or no size: digits
 * alone, at most MaxInt32.
 */
export function desiredReplicasOf(replicaSet: ReplicaSet): number | undefined {
  return sizeOf(annotationsOf(replicaSet)[DESIRED_REPLICAS])
}

/** That size with its surge. */
export function recordedMaxReplicasOf(replicaSet: ReplicaSet): number | undefined {
  return sizeOf(annotationsOf(replicaSet)[MAX_REPLICAS])
}

/** The sizes that go onto a ReplicaSet with every scaling. */
export function replicasAnnotations(deployment: Deployment): Annotations {
  return {
    [DESIRED_REPLICAS]: String(replicasOf(deployment)),
    [MAX_REPLICAS]: String(maxReplicasOf(deployment)),
  }
}

/**
 * What the annotations of a ReplicaSet should be, so that it is the one of revision `newRevision`;
 * the very same object when nothing changes. What the Deployment does not have is left alone. A
 * revision that is no integer stops all of it.
 */
export function synchronizedAnnotations(
  deployment: Deployment,
  current: Annotations,
  newRevision: bigint,
): Annotations {
  const oldText = current[REVISION]
  const oldRevision = oldText === undefined || oldText === '' ? 0n : int64Of(oldText)
  if (oldRevision === undefined) return current
  const next: Record<string, string> = { ...current, ...copyableAnnotations(deployment) }
  if (oldRevision < newRevision) {
    next[REVISION] = String(newRevision)
    if (oldText !== undefined)
      next[REVISION_HISTORY] = appendedHistory(current[REVISION_HISTORY] ?? '', oldText)
  }
  return sameAnnotations(current, next) ? current : next
}

/** What of an object's annotations travels between a Deployment and its ReplicaSets. */
function copyableAnnotations(object: KubernetesObject): Annotations {
  return Object.fromEntries(
    Object.entries(annotationsOf(object)).filter(([name]) => !NOT_COPIED.has(name)),
  )
}

/**
 * After a rollback: the target's annotations in place of the Deployment's, which keeps those that
 * never travel.
 */
export function annotationsAfterRollback(deployment: Deployment, target: ReplicaSet): Annotations {
  const kept = Object.entries(annotationsOf(deployment)).filter(([name]) => NOT_COPIED.has(name))
  return { ...Object.fromEntries(kept), ...copyableAnnotations(target) }
}

/**
 * Adds a revision and drops the oldest ones beyond 2000 characters; a single one that is too long
 * is not added.
 */
export function appendedHistory(history: string, revision: string): string {
  const former = history.split(',')
  // Also one that only begins with a comma is given up: that is what upstream takes for no history.
  if (former[0] === '') return revision
  let length = history.length + 1 + revision.length
  let dropped = 0
  while (length > LONGEST_REVISION_HISTORY && dropped < former.length) {
    length -= former[dropped]!.length + 1
    dropped++
  }
  return length > LONGEST_REVISION_HISTORY
    ? history
    : [...former.slice(dropped), revision].join(',')
}

function sameAnnotations(left: Annotations, right: Annotations): boolean {
  const names = Object.keys(left)
  return (
    names.length === Object.keys(right).length && names.every((name) => left[name] === right[name])
  )
}

/** The revision to roll back to (0: the previous one); undefined without a valid request. */
export function rollbackRevisionOf(deployment: Deployment): bigint | undefined {
  const text = annotationsOf(deployment)[ROLLBACK_TO]
  return text === undefined ? undefined : int64Of(text)
}

function int64Of(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = BigInt(text.replace('+', ''))
  return BigInt.asIntN(64, value) === value ? value : undefined
}

function sizeOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined
  const value = Number(text)
  return value > MAX_INT32 ? undefined : value
}
