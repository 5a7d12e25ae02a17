/** Smallest valid objects for tests of workload controllers. */
import { newControllerRef, resources } from '@gyropilot/api'
import type {
  ContainerStatus,
  Deployment,
  KubernetesObject,
  ObjectMeta,
  Pod,
  PodTemplateSpec,
  ReplicaSet,
  Status,
} from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import type { Expectations, Outcome } from '@gyropilot/runtime'

/** 2026-01-01T00:00:00Z, the time that `drive` begins at. */
export const NOW_MS = Date.UTC(2026, 0, 1)

/** RFC 3339, so many seconds before NOW_MS. */
export function secondsAgo(seconds: number): string {
  return new Date(NOW_MS - seconds * 1000).toISOString().replace('.000Z', 'Z')
}

export interface ReplicaSetOptions {
  readonly name?: string
  readonly uid?: string
  readonly replicas?: number
  readonly minReadySeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly template?: PodTemplateSpec
  readonly status?: ReplicaSet['status']
  readonly metadata?: Partial<ObjectMeta>
}

export const TEMPLATE: PodTemplateSpec = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'img:1' }] },
}

export function replicaSet(options: ReplicaSetOptions = {}): ReplicaSet {
  const {
    name = 'rs',
    replicas = 2,
    minReadySeconds,
    labels = { app: 'a' },
    template = TEMPLATE,
  } = options
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: 'ns',
      uid: options.uid ?? `${name}-uid`,
      generation: 1,
      resourceVersion: '10',
      creationTimestamp: secondsAgo(3600),
      labels,
      ...options.metadata,
    },
    spec: {
      replicas,
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      selector: { matchLabels: labels },
      template,
    },
    status: options.status ?? { replicas: 0 },
  }
}

export interface PodOptions {
  readonly name?: string
  readonly uid?: string
  readonly phase?: string
  readonly node?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly owner?: KubernetesObject
  /** Ready since so many seconds ago. */
  readonly readySeconds?: number
  readonly ageSeconds?: number
  readonly deleting?: boolean
  readonly restarts?: number
  readonly sidecarRestarts?: number
  readonly resourceVersion?: string
}

export function pod(options: PodOptions = {}): Pod {
  const {
    name = 'pod',
    phase = 'Running',
    node = 'node-a',
    labels = { app: 'a' },
    owner,
    readySeconds,
  } = options
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'ns',
      uid: options.uid ?? `${name}-uid`,
      resourceVersion: options.resourceVersion ?? '20',
      creationTimestamp: secondsAgo(options.ageSeconds ?? 60),
      labels,
      ...(options.annotations === undefined ? {} : { annotations: options.annotations }),
      ...(owner === undefined
        ? {}
        : { ownerReferences: [newControllerRef(owner, resources.replicasets)] }),
      ...(options.deleting ? { deletionTimestamp: secondsAgo(-30) } : {}),
    },
    spec: {
      containers: [{ name: 'c', image: 'img:1' }],
      ...(node === '' ? {} : { nodeName: node }),
      ...(options.sidecarRestarts === undefined
        ? {}
        : { initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }] }),
    },
    status: {
      phase,
      ...(readySeconds === undefined
        ? {}
        : {
            conditions: [
              { type: 'Ready', status: 'True', lastTransitionTime: secondsAgo(readySeconds) },
            ],
          }),
      ...(options.restarts === undefined
        ? {}
        : { containerStatuses: [restarted('c', options.restarts)] }),
      ...(options.sidecarRestarts === undefined
        ? {}
        : { initContainerStatuses: [restarted('sidecar', options.sidecarRestarts)] }),
    },
  } as Pod
}

function restarted(name: string, restartCount: number): ContainerStatus {
  return { name, image: 'i', imageID: 'i', ready: true, restartCount }
}

export function pods(count: number, options: PodOptions = {}): readonly Pod[] {
  return Array.from({ length: count }, (_, index) => pod({ ...options, name: `pod-${index}` }))
}

interface DeploymentOptions extends Omit<ReplicaSetOptions, 'status'> {
  readonly status?: Deployment['status']
  readonly spec?: Partial<Deployment['spec']>
  readonly strategy?: NonNullable<Deployment['spec']>['strategy']
}

export function deployment(options: DeploymentOptions = {}): Deployment {
  const { name = 'web', replicas = 3, labels = { app: 'a' }, template = TEMPLATE } = options
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name,
      namespace: 'ns',
      uid: options.uid ?? `${name}-uid`,
      generation: 1,
      resourceVersion: '10',
      ...options.metadata,
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template,
      strategy: options.strategy ?? {
        type: 'RollingUpdate',
        rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' },
      },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      ...options.spec,
    },
    status: options.status ?? {},
  }
}

/** The server's refusal. */
export function refusal(
  code: number,
  reason: string,
  message = reason,
  cause?: string,
): StatusError {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message,
    ...(cause === undefined ? {} : { details: { causes: [{ reason: cause }] } }),
  }
  return new StatusError(status)
}

export function refused(
  code: number,
  reason: string,
  message = reason,
  cause?: string,
): Outcome<never> {
  return { ok: false, error: refusal(code, reason, message, cause), attempted: true }
}

/** Counts what is observed. */
interface RecordedExpectations extends Expectations {
  readonly creations: readonly string[]
  readonly deletions: readonly string[]
  readonly deleted: readonly string[]
}

export function recordedExpectations(): RecordedExpectations {
  const creations: string[] = []
  const deletions: string[] = []
  const deleted: string[] = []
  return {
    creations,
    deletions,
    deleted,
    expectCreations() {},
    expectDeletions() {},
    creationObserved: (key) => void creations.push(key),
    deletionObserved: (key, dependent) => void deletions.push(`${key} ${dependent}`),
    satisfied: () => true,
    delete: (key) => void deleted.push(key),
  }
}
