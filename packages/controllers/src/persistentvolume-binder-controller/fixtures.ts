/** Smallest valid volumes and claims, and a sync of one of them against a table of outcomes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@gyropilot/api'
import type {
  KubernetesObject,
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '@gyropilot/api'
import { SeededRandom } from '@gyropilot/foundation'
import type { Verdict, Write } from '@gyropilot/runtime'
import { RecordingMetrics, drive, fakeInformers, testClock } from '@gyropilot/runtime/testing'
import type { DriveOptions, Driven } from '@gyropilot/runtime/testing'
import { defaultControllersConfiguration } from '../configuration.ts'
import { NOW_MS, refused } from '../workload-support/fixtures.ts'
import { BIND_COMPLETED, BOUND_BY_CONTROLLER } from './config.ts'
import type { PersistentVolumeBinderConfiguration } from './config.ts'
import { binderOf, claimLogic, volumeLogic } from './index.ts'

/** What the annotations that count by being there hold. */
export const COMPLETED = { [BIND_COMPLETED]: 'yes' }
export const CHOSEN = { [BOUND_BY_CONTROLLER]: 'yes' }

/** A bind from its beginning, as lines. */
export const BOUND_ALL = [
  'volume v: claim c-uid',
  'volume v is Bound',
  'claim c: volume v',
  'claim c is Bound',
]

/** What a claim is told that nothing fits. */
export const WAITS =
  'FailedBinding: no persistent volumes available for this claim and no storage class is set'

export const WITH_CLASS = { spec: { storageClassName: 'fast' } }

interface Meta {
  readonly annotations?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly deleting?: boolean
  readonly uid?: string
  readonly resourceVersion?: string
}

function metaOf(name: string, namespace: string | undefined, given: Meta) {
  const { annotations, labels, finalizers, deleting, uid, resourceVersion = '10' } = given
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: uid ?? `${name}-uid`,
    resourceVersion,
    ...(annotations && { annotations }),
    ...(labels && { labels }),
    ...(finalizers && { finalizers }),
    ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  }
}

export interface VolumeOptions extends Meta {
  readonly phase?: NonNullable<PersistentVolume['status']>['phase']
  readonly size?: string
  /** The uid in the reference to claim `c`: `c-uid` is that of `claim()`, empty reserves it for the name. */
  readonly claimUid?: string
  readonly claimRef?: ObjectReference
  readonly spec?: PersistentVolume['spec']
}

/** 1Gi, ReadWriteOnce, no class, Available unless told otherwise. */
export function volume(name = 'v', options: VolumeOptions = {}): PersistentVolume {
  const { phase = 'Available', size = '1Gi', claimUid } = options
  const ref = { kind: 'PersistentVolumeClaim', namespace: 'ns', name: 'c' }
  const claimRef =
    options.claimRef ??
    (claimUid === undefined ? undefined : { ...ref, ...(claimUid && { uid: claimUid }) })
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: metaOf(name, undefined, options),
    spec: {
      capacity: { storage: size },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Retain',
      ...(claimRef && { claimRef }),
      ...options.spec,
    },
    status: { phase },
  }
}

export interface ClaimOptions extends Meta {
  readonly phase?: NonNullable<PersistentVolumeClaim['status']>['phase']
  readonly volumeName?: string
  /** Default: the empty class, so that no default is looked for. Null: unset. */
  readonly className?: string | null
  readonly spec?: PersistentVolumeClaim['spec']
  readonly status?: PersistentVolumeClaim['status']
}

/** 1Gi, ReadWriteOnce, Pending unless told otherwise. */
export function claim(name = 'c', options: ClaimOptions = {}): PersistentVolumeClaim {
  const { phase = 'Pending', volumeName, className = '' } = options
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: metaOf(name, 'ns', options),
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      ...(volumeName && { volumeName }),
      ...(className !== null && { storageClassName: className }),
      ...options.spec,
    },
    status: { phase, ...options.status },
  }
}

/** A claim and volume `v` that are each other's, all steps done. */
export function boundPair(): readonly [PersistentVolume, PersistentVolumeClaim] {
  return [
    volume('v', { phase: 'Bound', claimUid: 'c-uid', annotations: CHOSEN }),
    claim('c', {
      phase: 'Bound',
      volumeName: 'v',
      annotations: { ...COMPLETED, ...CHOSEN },
      status: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
    }),
  ]
}

export function storageClass(
  name: string,
  provisioner = 'example.com/disk',
  more: Partial<StorageClass> = {},
): StorageClass {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name },
    provisioner,
    volumeBindingMode: 'Immediate',
    ...more,
  }
}

export function podUsing(name: string, nodeName?: string, phase = 'Pending'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'ns' },
    spec: {
      containers: [],
      ...(nodeName && { nodeName }),
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'c' } }],
    },
    status: { phase },
  } as Pod
}

export const deleted = (pod: Pod): Pod => ({
  ...pod,
  metadata: { ...pod.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
})

export interface SyncOptions extends DriveOptions {
  /** The uid of the pod with which this process has begun to empty volume `v` of the data of claim `c`. */
  readonly recycler?: string
  readonly settings?: Partial<PersistentVolumeBinderConfiguration>
}

type Policy = NonNullable<PersistentVolume['spec']>['persistentVolumeReclaimPolicy']

/** Bound to claim `c` of the uid `c-uid`, with a policy and a source. */
export function held(
  policy: Policy,
  source: object = {},
  more: VolumeOptions = {},
): PersistentVolume {
  return volume('v', {
    phase: 'Bound',
    claimUid: 'c-uid',
    ...more,
    spec: { persistentVolumeReclaimPolicy: policy, ...source },
  })
}

/** The API server has this volume, and no claim. */
export const found = (object: PersistentVolume): SyncOptions =>
  ({
    onRead: ({ type }: { type?: { kind: string } } & object) =>
      type?.kind === 'PersistentVolume' ? { ok: true, object } : refused(404, 'NotFound'),
  }) as SyncOptions

/** Everything that outlives one sync. */
export function world(objects: readonly KubernetesObject[], options: SyncOptions = {}) {
  const informers = fakeInformers(objects)
  const metrics = new RecordingMetrics()
  const clock = testClock(NOW_MS)
  const enqueued: string[] = []
  const base = defaultControllersConfiguration
  const persistentVolumeBinder = { ...base.persistentVolumeBinder, ...options.settings }
  const configuration = { ...base, persistentVolumeBinder }
  const random = new SeededRandom('binder')
  const binder = binderOf({ informers, configuration, metrics, clock, random }, (key) => {
    enqueued.push(key)
  })
  const data = { claimUid: 'c-uid', volumeUid: 'v-uid' }
  if (options.recycler !== undefined)
    binder.recyclers.set('v', { podUid: options.recycler, ...data })
  const logic = { claim: claimLogic({ informers }, binder), volume: volumeLogic(binder) }
  /** The API has what the caches have, unless the test says otherwise. */
  const onRead: NonNullable<DriveOptions['onRead']> = (read) => {
    if (read.verb === 'list') {
      const items = informers.informer(read.type).lister.list(read.namespace)
      return { ok: true, object: { items } as KubernetesObject }
    }
    if (read.verb !== 'get') return undefined
    const object = informers.informer(read.type).lister.get(read.namespace, read.name)
    return object === undefined ? refused(404, 'NotFound') : { ok: true, object }
  }
  /** As from a server: every write makes a version. */
  let version = 100
  const onWrite: NonNullable<DriveOptions['onWrite']> = (write, index) => {
    const answered = options.onWrite?.(write, index)
    if (answered !== undefined || write.verb !== 'update') return answered
    const metadata = { ...write.object.metadata, resourceVersion: String(version++) }
    return { ok: true, object: { ...write.object, metadata } }
  }
  const drivenBy: DriveOptions = { onRead, ...options, onWrite }
  return {
    informers,
    binder,
    metrics,
    clock,
    enqueued,
    logic,
    /** Undefined: there is nothing to judge. */
    syncClaim(key = 'ns/c') {
      const observed = logic.claim.observe(key)
      return observed && summary(drive(logic.claim.reconcile(observed), drivenBy))
    },
    syncVolume(name = 'v') {
      const observed = logic.volume.observe(name)
      return observed && summary(drive(logic.volume.reconcile(observed), drivenBy))
    },
  }
}

function summary(driven: Driven<Verdict | void>) {
  return {
    ...driven,
    error: ((driven.result as Verdict | undefined)?.error as Error | undefined)?.message,
    told: driven.events.map(({ reason, message }) => `${reason}: ${message}`),
    /** One line a write. */
    done: driven.writes.map(lineOf),
  }
}

/** `volume v: claim c-uid`, `volume v is Bound`, `claim c: volume v`, `claim c is Bound`, `delete pod p`. */
function lineOf(write: Write): string {
  if (write.verb === 'delete') return `delete ${write.type.kind} ${write.name}`
  if (!('object' in write)) return write.verb
  const { object } = write
  const name = object.metadata?.name
  const kind = write.type === resources.persistentvolumes ? 'volume' : 'claim'
  if (write.verb === 'create') return `create ${write.type.kind} ${name}`
  if (write.verb === 'update' && write.subresource === 'status')
    return `${kind} ${name} is ${(object as PersistentVolume).status?.phase}`
  if (kind === 'claim')
    return `claim ${name}: volume ${(object as PersistentVolumeClaim).spec?.volumeName ?? '-'}`
  return `volume ${name}: claim ${(object as PersistentVolume).spec?.claimRef?.uid ?? '-'}`
}

interface Case {
  readonly title: string
  readonly objects: readonly KubernetesObject[]
  /** One line a write. */
  readonly done: readonly string[]
  /** `reason: message`. */
  readonly told?: readonly string[]
  readonly error?: string
  readonly options?: SyncOptions
}

/** One sync of claim `ns/c` for each case. */
export function checkClaims(title: string, cases: readonly Case[]): void {
  check(title, cases, ({ objects, options }) => world(objects, options).syncClaim())
}

/** One sync of volume `v` for each case. */
export function checkVolumes(title: string, cases: readonly Case[]): void {
  check(title, cases, ({ objects, options }) => world(objects, options).syncVolume())
}

function check(
  title: string,
  cases: readonly Case[],
  sync: (one: Case) => ReturnType<typeof summary> | undefined,
): void {
  test(title, async (t) => {
    for (const one of cases) {
      await t.test(one.title, () => {
        const { done, told, error } = sync(one) ?? assert.fail('nothing to judge')
        const { told: tells = [] } = one
        assert.deepEqual({ done, told, error }, { done: one.done, told: tells, error: one.error })
      })
    }
  })
}
