/** What StatefulSets must have come to. */
import type { ControllerRevision, Pod, StatefulSet } from '@gyropilot/api'
import { controllerOf, deepEqual, isPodActive, isPodReady, resources } from '@gyropilot/api'
import type { Objects } from '../simulated/objects.ts'

export function* statefulSets(objects: Objects): Iterable<string> {
  for (const set of objects.all(resources.statefulsets)) {
    const { namespace, name, uid, deletionTimestamp } = set.metadata ?? {}
    if (deletionTimestamp !== undefined) continue
    const text = `StatefulSet ${namespace}/${name}`
    const pods = objects
      .all(resources.pods, namespace)
      .filter((pod) => isPodActive(pod) && controllerOf(pod)?.uid === uid)
    const revisions = objects
      .all(resources.controllerrevisions, namespace)
      .filter((revision) => controllerOf(revision)?.uid === uid)
    const isStuck = pods.some((pod) => !isPodReady(pod))
    if (!isStuck) yield* podsInPlace(text, set, pods)
    yield* identities(text, set, pods, revisions)
    yield* history(text, set, pods, revisions)
    if (!isStuck) yield* rollout(text, set, pods)
    const { replicas = 0, readyReplicas = 0 } = set.status ?? {}
    if (replicas !== pods.length)
      yield `the status of ${text} says ${replicas} pods, there are ${pods.length}`
    const ready = pods.filter(isPodReady).length
    if (readyReplicas !== ready)
      yield `the status of ${text} says ${readyReplicas} ready pods, there are ${ready}`
  }
}

function* podsInPlace(text: string, set: StatefulSet, pods: readonly Pod[]): Iterable<string> {
  const start = set.spec?.ordinals?.start ?? 0
  const wanted = Array.from(
    { length: set.spec?.replicas ?? 1 },
    (_, index) => `${set.metadata?.name}-${start + index}`,
  )
  const present = pods.map(({ metadata }) => metadata?.name ?? '')
  for (const name of wanted) if (!present.includes(name)) yield `${text} lacks pod ${name}`
  for (const name of present) if (!wanted.includes(name)) yield `${text} still has pod ${name}`
}

function* identities(
  text: string,
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: readonly ControllerRevision[],
): Iterable<string> {
  for (const { metadata } of pods) {
    const { name, labels = {} } = metadata ?? {}
    if (labels['statefulset.kubernetes.io/pod-name'] !== name)
      yield `pod ${name} of ${text} has the label of another`
    const hash = labels['controller-revision-hash']
    // Who adopts a pod does not give it a revision, and one that is older than the set may have that of a former set.
    const isOlder = (metadata?.creationTimestamp ?? '') < (set.metadata?.creationTimestamp ?? '')
    // One that nobody updates may have that of a former owner too: live-revisions.ts looks at those when they go.
    const isLeft = ordinalOf(name) < firstUpdated(set)
    if (
      hash !== undefined &&
      !isOlder &&
      !isLeft &&
      !revisions.some((revision) => revision.metadata?.name === hash)
    )
      yield `pod ${name} of ${text} is of revision ${hash}, which is not there`
  }
}

function* history(
  text: string,
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: readonly ControllerRevision[],
): Iterable<string> {
  const newest = revisions.toSorted((a, b) => a.revision - b.revision).at(-1)
  if (newest?.metadata?.name !== set.status?.updateRevision)
    yield `${text} goes to ${set.status?.updateRevision}, its newest revision is ${newest?.metadata?.name}`
  const template = { ...set.spec?.template, $patch: 'replace' }
  const kept = (newest?.data as { spec?: { template?: unknown } } | undefined)?.spec?.template
  if (!deepEqual(kept, template)) yield `the newest revision of ${text} is not its template`
  const numbers = new Set(revisions.map(({ revision }) => revision))
  if (numbers.size !== revisions.length) yield `two revisions of ${text} have one number`
  const live = new Set<string | undefined>([
    set.status?.currentRevision,
    set.status?.updateRevision,
    ...pods.map(({ metadata }) => metadata?.labels?.['controller-revision-hash']),
  ])
  const idle = revisions.filter(({ metadata }) => !live.has(metadata?.name))
  const limit = set.spec?.revisionHistoryLimit ?? 10
  if (idle.length > limit) yield `${text} keeps ${idle.length} old revisions, at most ${limit}`
}

function* rollout(text: string, set: StatefulSet, pods: readonly Pod[]): Iterable<string> {
  const { updateStrategy } = set.spec ?? {}
  if (updateStrategy?.type !== 'RollingUpdate') return
  const { updateRevision, currentRevision } = set.status ?? {}
  for (const { metadata } of pods) {
    const hash = metadata?.labels?.['controller-revision-hash']
    if (ordinalOf(metadata?.name) >= firstUpdated(set) && hash !== updateRevision)
      yield `pod ${metadata?.name} of ${text} was not updated`
  }
  const held = updateStrategy.rollingUpdate?.partition ?? 0
  if (held === 0 && currentRevision !== updateRevision)
    yield `${text} is through and is still at ${currentRevision}`
}

function ordinalOf(podName = ''): number {
  return Number(/[0-9]+$/.exec(podName)?.[0])
}

/** Pods below this ordinal are left at the revision that they have. */
function firstUpdated({ spec }: StatefulSet): number {
  const { type, rollingUpdate } = spec?.updateStrategy ?? {}
  if (type === 'OnDelete') return Infinity
  return (spec?.ordinals?.start ?? 0) + (rollingUpdate?.partition ?? 0)
}
