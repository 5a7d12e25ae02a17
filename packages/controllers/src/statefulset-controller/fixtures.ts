/** Smallest valid objects for tests of the StatefulSet controller. */
import { newControllerRef, resources } from '@gyropilot/api'
import type {
  ControllerRevision,
  ObjectMeta,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '@gyropilot/api'
import { controllerRevision } from '../revision-support/fixtures.ts'
import { TEMPLATE, pod, secondsAgo } from '../workload-support/fixtures.ts'
import type { PodOptions } from '../workload-support/fixtures.ts'
import type { ObservedStatefulSet } from './observe.ts'
import type { StatefulSetSettings } from './reconcile.ts'

type Spec = NonNullable<StatefulSet['spec']>

interface SetOptions {
  readonly name?: string
  readonly uid?: string
  readonly replicas?: number
  readonly spec?: Partial<Spec>
  readonly status?: Partial<NonNullable<StatefulSet['status']>>
  readonly metadata?: Partial<ObjectMeta>
}

/** RollingUpdate with partition 0 and two replicas, as the server defaults it. */
export function statefulSet(options: SetOptions = {}): StatefulSet {
  const { name = 'db', replicas = 2 } = options
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
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
      serviceName: 'svc',
      selector: { matchLabels: { app: 'a' } },
      template: TEMPLATE,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
      ...options.spec,
    },
    status: { replicas: 0, ...options.status },
  }
}

export const PARALLEL = { podManagementPolicy: 'Parallel' } as const

export function rollingUpdate(
  given: NonNullable<NonNullable<Spec['updateStrategy']>['rollingUpdate']>,
): Partial<Spec> {
  return { updateStrategy: { type: 'RollingUpdate', rollingUpdate: given } }
}

/** One claim template, `data`. */
export const CLAIMS: Partial<Spec> = {
  volumeClaimTemplates: [
    {
      metadata: { name: 'data', labels: { app: 'mine', more: 'x' }, annotations: { note: 'y' } },
      spec: { accessModes: ['ReadWriteOnce'] },
    },
  ],
}

export type Retention = 'Retain' | 'Delete'

export function retention(whenScaled: Retention, whenDeleted: Retention): Partial<Spec> {
  return { ...CLAIMS, persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted } }
}

export const CURRENT = 'db-current'
export const UPDATE = 'db-update'

/** A pod of the set as it should be, of revision `CURRENT`; ready for a minute unless told otherwise. */
export function setPod(set: StatefulSet, ordinal: number, options: SetPodOptions = {}): Pod {
  const name = `${set.metadata?.name}-${ordinal}`
  const { revision = CURRENT, phase = 'Running', readySeconds, ...rest } = options
  const isReady = phase === 'Running' && readySeconds !== null
  const made = pod({
    name,
    phase,
    ...(isReady ? { readySeconds: readySeconds ?? 60 } : {}),
    ...rest,
    labels: {
      app: 'a',
      'statefulset.kubernetes.io/pod-name': name,
      'apps.kubernetes.io/pod-index': String(ordinal),
      'controller-revision-hash': revision,
      ...options.labels,
    },
  })
  const volumes = (set.spec?.volumeClaimTemplates ?? []).map(({ metadata }) => ({
    name: metadata!.name!,
    persistentVolumeClaim: { claimName: `${metadata!.name}-${name}` },
  }))
  return {
    ...made,
    metadata: {
      ...made.metadata,
      ownerReferences: [newControllerRef(set, resources.statefulsets)],
    },
    spec: { ...made.spec!, ...(volumes.length === 0 ? {} : { volumes }) },
  }
}

interface SetPodOptions extends Omit<PodOptions, 'readySeconds' | 'owner' | 'name'> {
  readonly revision?: string
  /** Null: not ready. */
  readonly readySeconds?: number | null
}

export function setPods(
  set: StatefulSet,
  count: number,
  options: SetPodOptions = {},
): readonly Pod[] {
  return Array.from({ length: count }, (_, ordinal) => setPod(set, ordinal, options))
}

/** The claim `data` of an ordinal. */
export function claim(
  set: StatefulSet,
  ordinal: number,
  metadata: Partial<ObjectMeta> = {},
): PersistentVolumeClaim {
  const name = `data-${set.metadata?.name}-${ordinal}`
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'ns', uid: `${name}-uid`, resourceVersion: '40', ...metadata },
  }
}

export function ownedRevision(
  set: StatefulSet,
  name: string,
  revision: number,
  template = TEMPLATE,
): ControllerRevision {
  const owner = { object: set, type: resources.statefulsets }
  return controllerRevision({ name, revision, template, owner, ageSeconds: 600 - revision })
}

export interface World {
  readonly pods?: readonly Pod[]
  readonly claims?: readonly PersistentVolumeClaim[]
  readonly revisions?: readonly ControllerRevision[]
}

/** The caches agree with what is given. */
export function observed(set: StatefulSet, world: World = {}): ObservedStatefulSet {
  const { pods = [], claims = [], revisions = [] } = world
  const named = <T extends { readonly metadata?: ObjectMeta }>(all: readonly T[], name: string) =>
    all.find(({ metadata }) => metadata?.name === name)
  return {
    set,
    pods,
    revisions,
    claim: (name) => named(claims, name),
    pod: (name) => named(pods, name),
    revision: (name) => named(revisions, name),
    current: () => set,
  }
}

export const SETTINGS: StatefulSetSettings = { semanticRevisions: true, maxUnavailable: false }

export const DELETING = { deletionTimestamp: secondsAgo(5) }
