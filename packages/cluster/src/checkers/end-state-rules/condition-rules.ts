/**
 * What conditions must say at rest, beside the numbers of the same status. Written from the pages of the deployment, replicaset,
 * replicationcontroller and disruption controllers, not from the controllers.
 */
import type { Deployment, KubernetesObject, StatusCondition } from '@gyropilot/api'
import { controllerOf, findCondition, resolveIntOrPercent, resources } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

/** Of a Deployment that has no deadline, as the API spells it. */
const NO_DEADLINE_S = 2_147_483_647

interface Replicated extends KubernetesObject {
  readonly spec?: { readonly replicas?: number }
  readonly status?: { readonly replicas?: number; readonly conditions?: readonly StatusCondition[] }
}

export function* conditions(objects: Objects): Iterable<string> {
  const sets: readonly Replicated[] = objects.all(resources.replicasets)
  const controllers: readonly Replicated[] = objects.all(resources.replicationcontrollers)
  for (const owner of [...sets, ...controllers]) yield* failure(owner)
  const own = Map.groupBy(sets, (set) => controllerOf(set)?.uid)
  for (const deployment of objects.all(resources.deployments)) {
    yield* availability(deployment)
    yield* progress(deployment)
    yield* sharedFailure(deployment, own.get(deployment.metadata?.uid) ?? [])
  }
  for (const budget of objects.all(resources.poddisruptionbudgets)) {
    const isAllowed = (budget.status?.disruptionsAllowed ?? 0) > 0
    const wanted = isAllowed ? 'True/SufficientPods' : 'False/InsufficientPods'
    yield* said(budget, 'DisruptionAllowed', [wanted])
  }
}

/** Who has as many pods as it asks for has failed at none. */
function* failure(owner: Replicated): Iterable<string> {
  if ((owner.status?.replicas ?? 0) === (owner.spec?.replicas ?? 1))
    yield* said(owner, 'ReplicaFailure', ['none'])
}

/** A rollout tells the failures of its ReplicaSets; a paused Deployment keeps what it told before. */
function* sharedFailure(deployment: Deployment, sets: readonly Replicated[]): Iterable<string> {
  if (deployment.spec?.paused === true) return
  const failures = sets
    .map((set) => spoken(set.status?.conditions, 'ReplicaFailure'))
    .filter((text) => text !== 'none')
  yield* said(deployment, 'ReplicaFailure', failures.length > 0 ? failures : ['none'])
}

function* availability(deployment: Deployment): Iterable<string> {
  const { spec, status } = deployment
  const replicas = spec?.replicas ?? 1
  const isEnough = (status?.availableReplicas ?? 0) >= replicas - mostUnavailable(deployment)
  const wanted = isEnough ? 'True/MinimumReplicasAvailable' : 'False/MinimumReplicasUnavailable'
  yield* said(deployment, 'Available', [wanted])
}

function mostUnavailable({ spec }: Deployment): number {
  if (spec?.strategy?.type !== 'RollingUpdate') return 0
  const replicas = spec.replicas ?? 1
  const { maxSurge = 0, maxUnavailable = 0 } = spec.strategy.rollingUpdate ?? {}
  const unavailable = resolveIntOrPercent(maxUnavailable, replicas, 'down')
  const canMove = unavailable > 0 || resolveIntOrPercent(maxSurge, replicas, 'up') > 0
  return canMove ? unavailable : 1
}

/** Of a rollout that is not complete it depends on when it last moved, and nothing is said here. */
function* progress(deployment: Deployment): Iterable<string> {
  const { progressDeadlineSeconds, paused, replicas = 1 } = deployment.spec ?? {}
  const { updatedReplicas = 0, availableReplicas = 0, ...status } = deployment.status ?? {}
  const isComplete = [updatedReplicas, status.replicas ?? 0, availableReplicas].every(
    (count) => count === replicas,
  )
  if (paused === true) {
    const wanted = ['Unknown/DeploymentPaused', 'False/ProgressDeadlineExceeded']
    if (progressDeadlineSeconds !== undefined) yield* said(deployment, 'Progressing', wanted)
  } else if (progressDeadlineSeconds === undefined || progressDeadlineSeconds === NO_DEADLINE_S)
    yield* said(deployment, 'Progressing', ['none'])
  else if (isComplete) yield* said(deployment, 'Progressing', ['True/NewReplicaSetAvailable'])
}

function* said(
  object: KubernetesObject & {
    readonly status?: { readonly conditions?: readonly StatusCondition[] }
  },
  type: string,
  wanted: readonly string[],
): Iterable<string> {
  const text = spoken(object.status?.conditions, type)
  const { namespace, name } = object.metadata ?? {}
  if (!wanted.includes(text))
    yield `${object.kind} ${namespace}/${name} says ${type} ${text} and not ${wanted.join(' or ')}`
}

/** `True/MinimumReplicasAvailable`; `none` where there is no such condition. */
function spoken(list: readonly StatusCondition[] | undefined, type: string): string {
  const condition = findCondition(list ?? [], type)
  return condition === undefined ? 'none' : `${condition.status}/${condition.reason}`
}
