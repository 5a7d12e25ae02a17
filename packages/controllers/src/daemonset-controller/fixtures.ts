/** Smallest valid objects of the DaemonSet controller's tests. */
import { newControllerRef, resources } from '@gyropilot/api'
import type {
  ControllerRevision,
  DaemonSet,
  Node,
  ObjectMeta,
  Pod,
  PodTemplateSpec,
  Taint,
} from '@gyropilot/api'
import { controllerRevision } from '../revision-support/fixtures.ts'
import type { RevisionOptions } from '../revision-support/fixtures.ts'
import { TEMPLATE, secondsAgo } from '../workload-support/fixtures.ts'
import { podTemplateHash } from '../workload-support/pod-template-hash.ts'
import { GENERATION_ANNOTATION, HASH_LABEL } from './daemon-pod.ts'

/** The hash of TEMPLATE, and one of a template before it. */
export const HASH = podTemplateHash(TEMPLATE)
export const OLD_HASH = 'old'

type Strategy = NonNullable<NonNullable<DaemonSet['spec']>['updateStrategy']>
type Limits = NonNullable<Strategy['rollingUpdate']>

interface DaemonSetOptions {
  readonly name?: string
  readonly uid?: string
  /** Of the template. */
  readonly spec?: Partial<NonNullable<PodTemplateSpec['spec']>>
  readonly template?: PodTemplateSpec
  readonly minReadySeconds?: number
  readonly rolling?: Limits
  readonly onDelete?: boolean
  readonly historyLimit?: number
  readonly generation?: string
  readonly metadata?: Partial<ObjectMeta>
  readonly status?: Partial<NonNullable<DaemonSet['status']>>
}

export function daemonSet(options: DaemonSetOptions = {}): DaemonSet {
  const { name = 'ds', rolling = { maxUnavailable: 1, maxSurge: 0 }, minReadySeconds } = options
  const template = options.template ?? {
    ...TEMPLATE,
    spec: { ...TEMPLATE.spec!, ...options.spec },
  }
  const updateStrategy: Strategy = options.onDelete
    ? { type: 'OnDelete' }
    : { type: 'RollingUpdate', rollingUpdate: rolling }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name,
      namespace: 'ns',
      uid: options.uid ?? `${name}-uid`,
      generation: 1,
      resourceVersion: '10',
      annotations: { [GENERATION_ANNOTATION]: options.generation ?? '1' },
      ...options.metadata,
    },
    spec: {
      ...(minReadySeconds === undefined ? {} : { minReadySeconds }),
      revisionHistoryLimit: options.historyLimit ?? 10,
      selector: { matchLabels: { app: 'a' } },
      template,
      updateStrategy,
    },
    status: {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
      ...options.status,
    },
  }
}

export interface NodeOptions {
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
  readonly unschedulable?: boolean
}

export function node(name: string, options: NodeOptions = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `${name}-uid`, resourceVersion: '5', labels: options.labels ?? {} },
    spec: {
      ...(options.taints === undefined ? {} : { taints: options.taints }),
      ...(options.unschedulable ? { unschedulable: true } : {}),
    },
  }
}

/** n0, n1, ... */
export function nodes(count: number): readonly Node[] {
  return Array.from({ length: count }, (_, index) => node(`n${index}`))
}

export interface DaemonPodOptions {
  readonly name?: string
  /** Meant for the node and not bound to it. */
  readonly waiting?: boolean
  readonly hash?: string
  /** The label of the template's number; default none. */
  readonly generation?: string
  readonly phase?: string
  /** Ready since so many seconds. */
  readonly readySeconds?: number
  readonly ageSeconds?: number
  readonly deleting?: boolean
  /** Default: daemonSet(). Null: an orphan. */
  readonly owner?: DaemonSet | null
  readonly labels?: Readonly<Record<string, string>>
  readonly resourceVersion?: string
}

export function daemonPod(nodeName: string, options: DaemonPodOptions = {}): Pod {
  const { name = `on-${nodeName}`, hash = HASH, generation, phase = 'Running' } = options
  const { owner = daemonSet(), waiting = false, readySeconds } = options
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }
  const required = { nodeSelectorTerms: [term] }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'ns',
      uid: `${name}-uid`,
      resourceVersion: options.resourceVersion ?? '20',
      creationTimestamp: secondsAgo(options.ageSeconds ?? 60),
      labels: {
        app: 'a',
        [HASH_LABEL]: hash,
        ...(generation === undefined ? {} : { 'pod-template-generation': generation }),
        ...options.labels,
      },
      ...(owner === null
        ? {}
        : { ownerReferences: [newControllerRef(owner, resources.daemonsets)] }),
      ...(options.deleting ? { deletionTimestamp: secondsAgo(-30) } : {}),
    },
    spec: {
      containers: [{ name: 'c', image: 'img:1' }],
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required },
      },
      ...(waiting ? {} : { nodeName }),
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
    },
  } as Pod
}

export function revision(
  options: RevisionOptions & { readonly hash?: string } = {},
): ControllerRevision {
  const { hash = HASH } = options
  return controllerRevision({
    name: `ds-${hash}`,
    labels: { app: 'a', [HASH_LABEL]: hash },
    owner: { object: daemonSet(), type: resources.daemonsets },
    ...options,
  })
}
