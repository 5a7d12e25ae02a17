/**
 * How many pods the owners of a budget's pods ask for.
 * Contract: docs/behaviour/controllers/disruption-controller.md, Expected count: Scale sum.
 */
import { controllerOf, groupResourceOf } from '@gyropilot/api'
import type {
  Deployment,
  KubernetesObject,
  OwnerReference,
  Pod,
  ReplicaSet,
  ReplicationController,
  Scale,
  StatefulSet,
} from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { getLiveSubresource, resourceOfKind } from '@gyropilot/runtime'
import type { Lister, Reconcile } from '@gyropilot/runtime'
import { readableScale, scaledType } from '../workload-support/readable-scale.ts'

export interface OwnerListers {
  readonly replicationControllers: Lister<ReplicationController>
  readonly replicaSets: Lister<ReplicaSet>
  readonly deployments: Lister<Deployment>
  readonly statefulSets: Lister<StatefulSet>
}

interface ScaleSum {
  readonly replicas: number
  /** Names of pods without a controller. */
  readonly unmanaged: readonly string[]
  readonly error?: unknown
}

interface OwnerScale {
  readonly uid: string
  readonly replicas: number
}

const APPS: readonly string[] = ['apps', 'extensions']

/** What each owner asks for, each owner once. */
export function* scaleSum(pods: readonly Pod[], owners: OwnerListers): Reconcile<ScaleSum> {
  const found = new Map<string, number>()
  const seen = new Set<string>()
  const unmanaged: string[] = []
  for (const pod of pods) {
    const { namespace, name = '' } = pod.metadata ?? {}
    const reference = controllerOf(pod)
    if (reference === undefined) {
      unmanaged.push(name)
      continue
    }
    if (seen.has(reference.uid)) continue
    const scale = yield* ownerScale(reference, namespace, owners)
    if (scale instanceof Error) return { replicas: 0, unmanaged, error: scale }
    if (scale === undefined) {
      const error = new Error(`found no controllers for pod ${JSON.stringify(name)}`)
      return { replicas: 0, unmanaged, error }
    }
    seen.add(reference.uid)
    found.set(scale.uid, scale.replicas)
  }
  const replicas = [...found.values()].reduce((sum, each) => sum + each, 0)
  return { replicas, unmanaged }
}

/** From the caches where the owner is of a common kind, else from its scale subresource. */
function* ownerScale(
  reference: OwnerReference,
  namespace: string | undefined,
  owners: OwnerListers,
): Reconcile<OwnerScale | Error | undefined> {
  return cachedScale(reference, namespace, owners) ?? (yield* scaleOfAnyKind(reference, namespace))
}

function cachedScale(
  reference: OwnerReference,
  namespace: string | undefined,
  owners: OwnerListers,
): OwnerScale | undefined {
  if (isOf(reference, 'ReplicationController', [''])) {
    const found = named(owners.replicationControllers, namespace, reference)
    if (found !== undefined) return scaleOf(found)
  }
  if (isOf(reference, 'ReplicaSet', APPS)) {
    const found = named(owners.replicaSets, namespace, reference)
    if (found !== undefined) return replicaSetScale(found, namespace, owners)
  }
  if (isOf(reference, 'StatefulSet', ['apps'])) {
    const found = named(owners.statefulSets, namespace, reference)
    if (found !== undefined) return scaleOf(found)
  }
  return undefined
}

/** A Deployment speaks for its ReplicaSets: while it rolls out, each of them has a part of the pods. */
function replicaSetScale(
  replicaSet: ReplicaSet,
  namespace: string | undefined,
  { deployments }: OwnerListers,
): OwnerScale | undefined {
  const reference = controllerOf(replicaSet)
  if (reference?.kind !== 'Deployment') return scaleOf(replicaSet)
  if (!isOf(reference, 'Deployment', APPS)) return undefined
  const deployment = named(deployments, namespace, reference)
  return deployment === undefined ? undefined : scaleOf(deployment)
}

function* scaleOfAnyKind(
  reference: OwnerReference,
  namespace: string | undefined,
): Reconcile<OwnerScale | Error | undefined> {
  const [group, version] = groupVersionOf(reference)
  const mapped = yield* resourceOfKind(group, reference.kind, version)
  if (!mapped.ok) return asError(mapped.error)
  const resource = mapped.object
  const type = scaledType(resource)
  const scale = yield* getLiveSubresource<Scale>(type, namespace, reference.name, 'scale')
  if (!scale.ok) {
    if (!isNotFound(scale.error)) return asError(scale.error)
    // The object is gone, or there is no such thing as its scale.
    if (resource.subresources.some(({ name }) => name === 'scale')) return undefined
    return new Error(`${groupResourceOf(type)} does not implement the scale subresource`)
  }
  try {
    const read = readableScale(scale.object)
    return read.metadata?.uid === reference.uid ? scaleOf(read) : undefined
  } catch (error) {
    return asError(error)
  }
}

function scaleOf({
  metadata,
  spec,
}: KubernetesObject & { readonly spec?: { readonly replicas?: number } }): OwnerScale {
  return { uid: metadata?.uid ?? '', replicas: spec?.replicas ?? 0 }
}

function named<T extends KubernetesObject>(
  lister: Lister<T>,
  namespace: string | undefined,
  { name, uid }: OwnerReference,
): T | undefined {
  const found = lister.get(namespace, name)
  return found?.metadata?.uid === uid ? found : undefined
}

function isOf(reference: OwnerReference, kind: string, groups: readonly string[]): boolean {
  return reference.kind === kind && groups.includes(groupVersionOf(reference)[0])
}

function groupVersionOf({ apiVersion }: OwnerReference): readonly [group: string, version: string] {
  const slash = apiVersion.indexOf('/')
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)]
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
