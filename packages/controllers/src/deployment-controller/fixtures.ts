/** Deployments with ReplicaSets of theirs, for tests. */
import { newControllerRef, resources } from '@gyropilot/api'
import type { Deployment, KubernetesObject, Pod, PodTemplateSpec, ReplicaSet } from '@gyropilot/api'
import type { Outcome, Reconcile, Verdict, Write } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import type { DriveOptions } from '@gyropilot/runtime/testing'
import { deployment, replicaSet, secondsAgo } from '../workload-support/fixtures.ts'
import type { ReplicaSetOptions } from '../workload-support/fixtures.ts'
import { reconcile } from './reconcile.ts'
import { Rollout } from './rollout.ts'

/** A template that differs from the others by its image. */
export function template(image: string): PodTemplateSpec {
  return { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image }] } }
}

interface OwnedOptions extends ReplicaSetOptions {
  readonly image?: string
  readonly available?: number
  readonly revision?: string
  readonly ageSeconds?: number
  readonly annotations?: Readonly<Record<string, string>>
}

/** A ReplicaSet of the Deployment, observed and with `available` (default: all) pods available. */
export function owned(owner: Deployment, options: OwnedOptions): ReplicaSet {
  const {
    image = 'img:1',
    replicas = 0,
    available = replicas,
    revision,
    ageSeconds = 3600,
  } = options
  const base = replicaSet({ template: template(image), ...options, replicas })
  return {
    ...base,
    metadata: {
      ...base.metadata,
      creationTimestamp: secondsAgo(ageSeconds),
      ownerReferences: [newControllerRef(owner, resources.deployments)],
      annotations: {
        ...(revision === undefined ? {} : { 'deployment.kubernetes.io/revision': revision }),
        ...options.annotations,
      },
    },
    status: options.status ?? {
      replicas,
      readyReplicas: available,
      availableReplicas: available,
      terminatingReplicas: 0,
      observedGeneration: 1,
    },
  }
}

/** The annotations of a ReplicaSet that was scaled when its Deployment had this size. */
export function sizes(desired: number, max: number): Readonly<Record<string, string>> {
  return {
    'deployment.kubernetes.io/desired-replicas': String(desired),
    'deployment.kubernetes.io/max-replicas': String(max),
  }
}

/** A rollout whose new ReplicaSet is the first. */
export function rollout(
  of: Deployment,
  newReplicaSet: ReplicaSet | undefined,
  ...old: readonly ReplicaSet[]
): Rollout {
  const working = new Rollout(of, old)
  working.newReplicaSet = newReplicaSet
  return working
}

interface SyncOptions extends DriveOptions {
  readonly pods?: Readonly<Record<string, readonly Pod[]>>
  /** Of other owners: found by name only. */
  readonly cached?: readonly ReplicaSet[]
}

/** One whole sync. */
export function sync(
  of: Deployment,
  replicaSets: readonly ReplicaSet[] = [],
  options: SyncOptions = {},
) {
  const all = [...replicaSets, ...(options.cached ?? [])]
  return outcome(
    reconcile(
      {
        deployment: of,
        replicaSets,
        cachedReplicaSet: (name) => all.find(({ metadata }) => metadata?.name === name),
        podsOf: ({ metadata }) => options.pods?.[metadata?.name ?? ''] ?? [],
      },
      { terminatingReplicas: true },
    ),
    { onRead: () => ({ ok: true, object: of }), onWrite: asServer, ...options },
  )
}

/** What a server adds to a created object, so that it can be told from others. */
export function asServer(write: Write): Outcome<KubernetesObject> | undefined {
  if (write.verb !== 'create') return undefined
  const { object } = write
  return {
    ok: true,
    object: {
      ...object,
      metadata: { ...object.metadata, uid: `${object.metadata?.name}-uid`, generation: 1 },
    },
  }
}

/** Drives rules and sorts what they wrote. */
export function outcome(rules: Reconcile, options: DriveOptions = {}) {
  const driven = drive(rules, options)
  const { writes } = driven
  const verdict: Verdict = driven.result ?? {}
  const updates = (type: { resource: string }, subresource: string | undefined) =>
    writes.flatMap((write) =>
      write.verb === 'update' &&
      write.type.resource === type.resource &&
      write.subresource === subresource
        ? [write.object]
        : [],
    )
  return {
    ...driven,
    verdict,
    created: writes.flatMap((write) =>
      write.verb === 'create' ? [write.object as ReplicaSet] : [],
    ),
    deleted: writes.flatMap((write) => (write.verb === 'delete' ? [write.name] : [])),
    patched: writes.flatMap((write) => (write.verb === 'patch' ? [write.name] : [])),
    scaled: Object.fromEntries(
      (updates(resources.replicasets, undefined) as readonly ReplicaSet[]).map(
        ({ metadata, spec }) => [metadata?.name, spec?.replicas],
      ),
    ),
    replicaSetUpdates: updates(resources.replicasets, undefined) as readonly ReplicaSet[],
    deploymentUpdates: updates(resources.deployments, undefined) as readonly Deployment[],
    statusWrites: updates(resources.deployments, 'status') as readonly Deployment[],
    messages: driven.events.map(({ message }) => message),
  }
}

export { deployment }
