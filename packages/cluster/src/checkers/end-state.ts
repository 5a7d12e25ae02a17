/**
 * What must hold once nothing is disturbed any more and everything has come to rest: the world is as its specs say. Written
 * from the behaviour pages and not from the controllers, so that both cannot be wrong in the same way.
 */
import type {
  Deployment,
  EndpointSlice,
  KubernetesObject,
  Namespace,
  Pod,
  ReplicaSet,
  Service,
} from '@gyropilot/api'
import {
  controllerOf,
  deepEqual,
  isPodActive,
  isPodReady,
  labelQueryOf,
  labelQueryOfLabels,
  resources,
} from '@gyropilot/api'
import { attachments } from './end-state-rules/attachment-rules.ts'
import { availableReplicas } from './end-state-rules/available-rules.ts'
import { autoscalers } from './end-state-rules/autoscaler-rules.ts'
import { conditions } from './end-state-rules/condition-rules.ts'
import { cronJobs } from './end-state-rules/cronjob-rules.ts'
import { daemonSets } from './end-state-rules/daemonset-rules.ts'
import { deviceClaims, deviceClaimsOfPods, devicesTaken } from './end-state-rules/device-rules.ts'
import { nodeTaints } from './end-state-rules/node-rules.ts'
import { podRangesAtRest } from './end-state-rules/pod-range-rules.ts'
import { podsOnNodes } from './end-state-rules/pod-rules.ts'
import { placedPods, startedPods } from './end-state-rules/waiting-pod-rules.ts'
import { halfDeleted } from './end-state-rules/deletion-rules.ts'
import type { Objects } from '../simulated/objects.ts'
import { jobsAtRest } from './jobs.ts'
import { mostReplicas } from './pod-limits.ts'
import { checkedPolicies } from './end-state-rules/policy-rules.ts'
import { quotas } from './end-state-rules/quota-rules.ts'
import { statefulSets } from './stateful-sets.ts'
import { accountTokens } from './end-state-rules/token-rules.ts'
import { claims, volumes, volumesOfNodes, waitingPods } from './end-state-rules/volume-rules.ts'
import { aggregatedRoles } from './end-state-rules/role-rules.ts'
import { serviceRanges } from './end-state-rules/service-range-rules.ts'
import {
  budgetStatuses,
  endpoints,
  mirroredSlices,
  replicationControllers,
  slicePorts,
} from './end-state-rules/service-rules.ts'

/** Problems, in words. */
export type EndStateRule = (objects: Objects) => Iterable<string>

/** By name. Rules of kinds that nobody made find nothing to say. */
export const endStateRules: Readonly<Record<string, EndStateRule>> = {
  'nothing is left half deleted': halfDeleted,
  'every owner exists': ownersExist,
  'the newest spec was acted on': generationsObserved,
  'ReplicaSets have the pods they ask for': replicaSets,
  'Deployments have rolled out': deployments,
  'statuses count the pods that are available': availableReplicas,
  'conditions say what the numbers say': conditions,
  'StatefulSets have the pods they ask for': statefulSets,
  'DaemonSets run where they should': daemonSets,
  'pods are on nodes that are there': podsOnNodes,
  'pods have a node or say why not': placedPods,
  'nodes have begun with their pods': startedPods,
  'nodes have pod ranges of their own': podRangesAtRest,
  'taints of nodes say what their conditions say': nodeTaints,
  'Jobs have counted their pods and are over': jobsAtRest,
  'CronJobs know their Jobs and keep no more than they should': cronJobs,
  'autoscalers have what they want': autoscalers,
  'volumes are attached where pods need them, and to one node where they are for one': attachments,
  'EndpointSlices show the pods of their Service': endpointSlices,
  'EndpointSlices have the ports of their Service': slicePorts,
  'ReplicationControllers have the pods they ask for': replicationControllers,
  'Endpoints list the pods of their Service': endpoints,
  'slices mirror the Endpoints that are kept by hand': mirroredSlices,
  'budgets allow what is left over': budgetStatuses,
  'claims have volumes of their own': claims,
  'volumes are what their phase says': volumes,
  'claims of pods do not wait': waitingPods,
  'nodes have the volumes that their pods use': volumesOfNodes,
  'pods have the claims of their templates': deviceClaimsOfPods,
  'claims for devices are reserved for who uses them': deviceClaims,
  'devices are in one claim at most': devicesTaken,
  'quotas count what there is': quotas,
  'policies have been checked as they are': checkedPolicies,
  'roles that are sums have the rules of their parts': aggregatedRoles,
  'tokens are of accounts that are there, and complete': accountTokens,
  'ranges of Service addresses are ready, or go when nobody needs them': serviceRanges,
  'namespaces have what every namespace has': namespaces,
}

function nameOf(object: KubernetesObject): string {
  const { namespace, name } = object.metadata ?? {}
  return `${object.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`
}

function* ownersExist(objects: Objects): Iterable<string> {
  const uids = new Set<string>()
  const namespaceNames = new Set<string>()
  const all: KubernetesObject[] = []
  for (const { collection, object } of objects.everything()) {
    uids.add(object.metadata?.uid ?? '')
    if (collection === 'namespaces') namespaceNames.add(object.metadata?.name ?? '')
    if (collection !== 'events') all.push(object)
  }
  for (const object of all) {
    const { ownerReferences = [], namespace } = object.metadata ?? {}
    if (namespace !== undefined && !namespaceNames.has(namespace))
      yield `${nameOf(object)} is left in a namespace that is gone`
    if (ownerReferences.length > 0 && ownerReferences.every(({ uid }) => !uids.has(uid)))
      yield `${nameOf(object)} has outlived its owner ${ownerReferences.map(({ kind, name }) => `${kind} ${name}`).join(', ')}`
  }
}

/** Of these each generation is observed; others may say nothing of it. */
const OBSERVED = new Set([
  'DaemonSet',
  'Deployment',
  'PodDisruptionBudget',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
])

function* generationsObserved(objects: Objects): Iterable<string> {
  for (const { object } of objects.everything()) {
    const { status } = object as { status?: { observedGeneration?: number } }
    const { generation } = object.metadata ?? {}
    const observed = status?.observedGeneration ?? (OBSERVED.has(object.kind ?? '') ? 0 : undefined)
    if (observed === undefined || generation === undefined) continue
    if (observed !== generation)
      yield `${nameOf(object)} is at generation ${generation}, observed was ${observed}`
  }
}

function activePodsOf(objects: Objects, owner: KubernetesObject): readonly Pod[] {
  return objects
    .all(resources.pods, owner.metadata?.namespace)
    .filter((pod) => isPodActive(pod) && controllerOf(pod)?.uid === owner.metadata?.uid)
}

function* replicaSets(objects: Objects): Iterable<string> {
  for (const set of objects.all(resources.replicasets)) {
    const wanted = set.spec?.replicas ?? 1
    const pods = activePodsOf(objects, set)
    if (pods.length !== wanted)
      yield `${nameOf(set)} asks for ${wanted} pods and has ${pods.length}`
    const selector = labelQueryOf(set.spec?.selector)
    for (const pod of pods)
      if (!selector.matches(pod.metadata?.labels))
        yield `${nameOf(pod)} does not match its ReplicaSet ${set.metadata?.name}`
    for (const pod of objects.all(resources.pods, set.metadata?.namespace)) {
      if (
        controllerOf(pod) === undefined &&
        isPodActive(pod) &&
        selector.matches(pod.metadata?.labels)
      )
        yield `${nameOf(pod)} matches ${nameOf(set)} and was not adopted`
    }
    const { replicas = 0, readyReplicas = 0 } = set.status ?? {}
    if (replicas !== pods.length)
      yield `the status of ${nameOf(set)} says ${replicas} pods, there are ${pods.length}`
    const ready = pods.filter(isPodReady).length
    if (readyReplicas !== ready)
      yield `the status of ${nameOf(set)} says ${readyReplicas} ready pods, there are ${ready}`
  }
}

function* deployments(objects: Objects): Iterable<string> {
  for (const deployment of objects.all(resources.deployments)) {
    const { spec, status, metadata } = deployment
    const wanted = spec?.replicas ?? 1
    const owned = objects
      .all(resources.replicasets, metadata?.namespace)
      .filter((set) => controllerOf(set)?.uid === metadata?.uid)
    const total = owned.reduce((sum, set) => sum + (set.spec?.replicas ?? 0), 0)
    if (spec?.paused !== true) {
      const current = owned.filter((set) => isTemplateOf(set, deployment))
      if (current.length !== 1)
        yield `${nameOf(deployment)} has ${current.length} ReplicaSets of its template`
      const currentReplicas = current[0]?.spec?.replicas ?? 0
      const isStuck = current.some((set) =>
        activePodsOf(objects, set).some((pod) => !isPodReady(pod)),
      )
      if (!isStuck && (currentReplicas !== wanted || total !== wanted))
        yield `${nameOf(deployment)} asks for ${wanted}, its newest ReplicaSet for ${currentReplicas}, all together for ${total}`
      if (!isStuck && (status?.updatedReplicas ?? 0) !== wanted)
        yield `the status of ${nameOf(deployment)} says ${status?.updatedReplicas ?? 0} updated replicas of ${wanted}`
      const limit = spec?.revisionHistoryLimit ?? 10
      const idle = owned.filter(
        (set) => (set.spec?.replicas ?? 0) === 0 && !isTemplateOf(set, deployment),
      )
      if (!isStuck && idle.length > limit)
        yield `${nameOf(deployment)} keeps ${idle.length} old ReplicaSets, at most ${limit}`
    } else if (owned.length > 0 && (total < wanted || total > mostWhenPaused(deployment))) {
      yield `paused ${nameOf(deployment)} asks for ${wanted}, its ReplicaSets for ${total}`
    }
    const pods = owned.reduce((sum, set) => sum + activePodsOf(objects, set).length, 0)
    if ((status?.replicas ?? 0) !== pods)
      yield `the status of ${nameOf(deployment)} says ${status?.replicas ?? 0} pods, there are ${pods}`
  }
}

/** In the middle of a rollout it keeps its surge; of one whose strategy became Recreate meanwhile nobody knows how much that was. */
function mostWhenPaused(deployment: Deployment): number {
  return deployment.spec?.strategy?.type === 'Recreate' ? Infinity : mostReplicas(deployment)
}

const HASH_LABEL = 'pod-template-hash'

function isTemplateOf(set: ReplicaSet, deployment: Deployment): boolean {
  const template = set.spec?.template
  const { [HASH_LABEL]: _hash, ...labels } = template?.metadata?.labels ?? {}
  const bare = { ...template, metadata: { ...template?.metadata, labels } }
  return deepEqual(bare, deployment.spec?.template)
}

function* endpointSlices(objects: Objects): Iterable<string> {
  const bySlice = new Map<string, EndpointSlice[]>()
  for (const slice of objects.all(resources.endpointslices)) {
    const { labels, namespace } = slice.metadata ?? {}
    if (labels?.['endpointslice.kubernetes.io/managed-by'] !== 'endpointslice-controller.k8s.io')
      continue
    // A Service that was deleted with Orphan leaves its slices behind, as asked.
    const isOrphan = slice.metadata?.ownerReferences === undefined
    const service = `${labels['kubernetes.io/service-name']}`
    if (isOrphan && objects.find(resources.services, namespace, service) === undefined) continue
    const key = `${namespace}/${labels['kubernetes.io/service-name']}`
    bySlice.set(key, [...(bySlice.get(key) ?? []), slice])
  }
  for (const service of objects.all(resources.services)) {
    const { namespace, name } = service.metadata ?? {}
    const slices = bySlice.get(`${namespace}/${name}`) ?? []
    bySlice.delete(`${namespace}/${name}`)
    if (service.spec?.selector != null && service.spec.type !== 'ExternalName')
      yield* endpointsOf(objects, service, slices)
  }
  for (const [key, slices] of bySlice)
    yield `${slices.length} EndpointSlices are left of Service ${key}`
}

function* endpointsOf(
  objects: Objects,
  service: Service,
  slices: readonly EndpointSlice[],
): Iterable<string> {
  const selector = labelQueryOfLabels(service.spec?.selector)
  const wanted = new Map<string, boolean>()
  for (const pod of objects.all(resources.pods, service.metadata?.namespace)) {
    const isOver = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    if (isOver || !pod.status?.podIP || !selector.matches(pod.metadata?.labels)) continue
    wanted.set(
      `${pod.metadata?.name} ${pod.status.podIP}`,
      isPodReady(pod) && pod.metadata?.deletionTimestamp === undefined,
    )
  }
  const shown = new Map<string, boolean>()
  for (const slice of slices) {
    for (const { targetRef, addresses, conditions } of slice.endpoints ?? []) {
      const key = `${targetRef?.name} ${addresses[0]}`
      if (shown.has(key)) yield `${nameOf(service)} shows ${key} twice`
      shown.set(key, conditions?.ready ?? true)
    }
  }
  for (const [key, ready] of wanted) {
    if (!shown.has(key)) yield `${nameOf(service)} does not show ${key}`
    else if (shown.get(key) !== ready)
      yield `${nameOf(service)} shows ${key} as ${ready ? 'not ready' : 'ready'}`
  }
  for (const key of shown.keys())
    if (!wanted.has(key)) yield `${nameOf(service)} shows ${key}, which is none of its pods`
}

function* namespaces(objects: Objects): Iterable<string> {
  for (const namespace of objects.all(resources.namespaces) as readonly Namespace[]) {
    const name = namespace.metadata?.name ?? ''
    if (namespace.metadata?.deletionTimestamp !== undefined) continue
    if (objects.find(resources.serviceaccounts, name, 'default') === undefined)
      yield `namespace ${name} has no service account default`
    const authority = objects.find(resources.configmaps, name, 'kube-root-ca.crt')
    if (!authority?.data?.['ca.crt']?.startsWith('-----BEGIN'))
      yield `namespace ${name} has no kube-root-ca.crt`
  }
}
