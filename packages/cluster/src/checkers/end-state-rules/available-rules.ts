/** What the statuses of ReplicaSets, ReplicationControllers, StatefulSets and Deployments say of pods that serve. */
import type { KubernetesObject, Pod } from '@gyropilot/api'
import { controllerOf, isPodActive, isPodReady, resources } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

/** Who is ready for longer than the rest lasts need not be available in the end. */
const LONGEST_WAIT_S = 60

interface Counted extends KubernetesObject {
  readonly spec?: { readonly minReadySeconds?: number }
  readonly status?: {
    readonly replicas?: number
    readonly readyReplicas?: number
    readonly availableReplicas?: number
    readonly unavailableReplicas?: number
  }
}

/** At rest who is ready is available. */
export function* availableReplicas(objects: Objects): Iterable<string> {
  const pods = Map.groupBy(objects.all(resources.pods), (pod) => controllerOf(pod)?.uid)
  const podsOf = (owner: KubernetesObject): readonly Pod[] =>
    (pods.get(owner.metadata?.uid) ?? []).filter(isPodActive)
  const owners: readonly Counted[] = [
    ...objects.all(resources.replicasets),
    ...objects.all(resources.replicationcontrollers),
    ...objects.all(resources.statefulsets),
  ]
  for (const owner of owners) yield* counted(owner, podsOf(owner))
  for (const deployment of objects.all(resources.deployments)) {
    const own = objects
      .all(resources.replicasets, deployment.metadata?.namespace)
      .filter((set) => controllerOf(set)?.uid === deployment.metadata?.uid)
      .flatMap(podsOf)
    yield* counted(deployment, own)
    const ready = own.filter(isPodReady).length
    const { readyReplicas = 0, unavailableReplicas = 0 } = deployment.status ?? {}
    if (readyReplicas !== ready)
      yield `the status of ${textOf(deployment)} says ${readyReplicas} ready pods, there are ${ready}`
    if (waitsBriefly(deployment) && unavailableReplicas !== own.length - ready)
      yield `the status of ${textOf(deployment)} says ${unavailableReplicas} unavailable pods, there are ${own.length - ready}`
  }
}

function* counted(owner: Counted, pods: readonly Pod[]): Iterable<string> {
  if (!waitsBriefly(owner)) return
  const ready = pods.filter(isPodReady).length
  const { availableReplicas: available = 0 } = owner.status ?? {}
  if (available !== ready)
    yield `the status of ${textOf(owner)} says ${available} available pods, there are ${ready}`
}

const waitsBriefly = ({ spec }: Counted): boolean => (spec?.minReadySeconds ?? 0) <= LONGEST_WAIT_S

function textOf({ kind, metadata }: KubernetesObject): string {
  return `${kind} ${metadata?.namespace}/${metadata?.name}`
}
