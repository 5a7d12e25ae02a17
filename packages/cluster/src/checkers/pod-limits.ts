/** Never more pods than allowed. What is allowed is the most that was asked for lately: a controller may learn of less late. */
import type { Deployment, KubernetesObject, Pod, ReplicaSet } from '@gyropilot/api'
import {
  controllerOf,
  isPodActive,
  labelQueryOf,
  resolveIntOrPercent,
  resources,
} from '@gyropilot/api'
import type { Clock } from '@gyropilot/foundation'
import type { Objects } from '../simulated/objects.ts'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { Report } from './violation.ts'

/** Longer than any single disturbance of a fault plan. */
const WINDOW_MS = 120_000

/** The most that a number was within the window. */
class RecentMaximum {
  #values: { readonly value: number; untilMs: number }[] = []

  set(value: number, nowMs: number): void {
    const last = this.#values.at(-1)
    if (last !== undefined && last.untilMs === Infinity) last.untilMs = nowMs + WINDOW_MS
    this.#values = this.#values.filter(({ untilMs }) => untilMs > nowMs)
    this.#values.push({ value, untilMs: Infinity })
  }

  get(nowMs: number): number {
    let most = 0
    for (const { value, untilMs } of this.#values) if (untilMs > nowMs) most = Math.max(most, value)
    return most
  }
}

export function podLimits(report: Report, clock: Clock, objects: Objects): ClusterObserver {
  const allowed = new Map<string, RecentMaximum>()
  const allow = (uid: string, value: number): void => {
    const recent = allowed.get(uid) ?? new RecentMaximum()
    allowed.set(uid, recent)
    recent.set(value, clock.monotonicMs())
  }
  /** Creations whose answer was lost, by owner: until the cache shows them nobody can know of these pods. */
  const unheard = new Map<string, number[]>()
  const unheardOf = (uid: string): number =>
    (unheard.get(uid) ?? []).filter((atMs) => clock.monotonicMs() - atMs < WINDOW_MS).length
  const limitOf = (uid: string): number => allowed.get(uid)?.get(clock.monotonicMs()) ?? 0

  function checkPods(pod: Pod): void {
    const owner = controllerOf(pod)
    if (owner?.kind !== 'ReplicaSet' || clock.monotonicMs() - staleListMs < WINDOW_MS) return
    const { namespace } = pod.metadata ?? {}
    // Who may not let a pod go that was taken away by its labels makes another for it.
    const set = objects.find(resources.replicasets, namespace, owner.name)
    const selector = set && labelQueryOf(set.spec?.selector)
    const pods = objects
      .all(resources.pods, namespace)
      .filter((other) => isPodActive(other) && controllerOf(other)?.uid === owner.uid)
      .filter((other) => selector?.matches(other.metadata?.labels) ?? true)
    const limit = limitOf(owner.uid) + unheardOf(owner.uid)
    if (pods.length > limit)
      report(
        'pod limits',
        `ReplicaSet ${namespace}/${owner.name} has ${pods.length} pods, at most ${limit} were asked for`,
      )
  }

  function checkSets(set: ReplicaSet): void {
    const owner = controllerOf(set)
    if (owner?.kind !== 'Deployment') return
    const sum = objects
      .all(resources.replicasets, set.metadata?.namespace)
      .filter((other) => controllerOf(other)?.uid === owner.uid)
      .reduce((total, other) => total + (other.spec?.replicas ?? 0), 0)
    const limit = limitOf(owner.uid)
    if (sum > limit)
      report(
        'pod limits',
        `the ReplicaSets of Deployment ${set.metadata?.namespace}/${owner.name} ask for ${sum} pods, at most ${limit} are allowed with its surge`,
      )
  }

  /** A leader that starts from an old list (`resourceVersion=0`) cannot know of the pods that the one before it made. */
  let staleListMs = -Infinity
  return {
    answeredStale({ verb, collection }) {
      if (verb === 'list' && (collection === 'pods' || collection === 'replicasets.apps'))
        staleListMs = clock.monotonicMs()
    },
    answerLost({ verb, collection }, body) {
      const uid = body === undefined ? undefined : controllerOf(body)?.uid
      if (verb !== 'create' || collection !== 'pods' || uid === undefined) return
      unheard.set(uid, [...(unheard.get(uid) ?? []), clock.monotonicMs()])
    },
    committed({ type, collection, object, previous }) {
      const stored = object as KubernetesObject
      const uid = stored.metadata?.uid ?? ''
      if (type === 'deleted') return
      if (collection === 'deployments.apps') {
        allow(uid, mostReplicas(stored as Deployment))
      } else if (collection === 'replicasets.apps') {
        const set = stored as ReplicaSet
        const replicas = set.spec?.replicas ?? 0
        const before = (previous as ReplicaSet | undefined)?.spec?.replicas
        if (before !== replicas) allow(uid, replicas)
        // What was adopted may be too much already: only who asks for more is judged.
        if (replicas > (before ?? 0)) checkSets(set)
      } else if (collection === 'pods' && type === 'created') checkPods(stored as Pod)
    },
  }
}

/** With the surge of a rollout. */
export function mostReplicas({ spec }: Deployment): number {
  const replicas = spec?.replicas ?? 1
  if (spec?.strategy?.type === 'Recreate') return replicas
  const surge = resolveIntOrPercent(spec?.strategy?.rollingUpdate?.maxSurge ?? 0, replicas, 'up')
  return replicas + surge
}
