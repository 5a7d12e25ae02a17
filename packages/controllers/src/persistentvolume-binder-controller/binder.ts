/** What the rules know and remember besides the object they look at. */
import type {
  Event,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  StorageClass,
} from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { update, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import type { PersistentVolumeBinderConfiguration } from './config.ts'
import type { BinderMetrics } from './metrics.ts'
import type { OperationTimes } from './operation-times.ts'
import type { OwnCache } from './own-cache.ts'

export interface Binder {
  readonly volumes: OwnCache<PersistentVolume>
  readonly claims: OwnCache<PersistentVolumeClaim>
  classNamed(name: string): StorageClass | undefined
  classes(): readonly StorageClass[]
  /** By name; by the cache. */
  podsUsing(claim: { readonly namespace?: string; readonly name?: string }): readonly Pod[]
  podNamed(namespace: string, name: string): Pod | undefined
  enqueueClaim(key: string): void
  readonly settings: PersistentVolumeBinderConfiguration
  readonly metrics: BinderMetrics
  /** Failures of provisionings and deletions, by `delete-<pv>[<uid>]`. */
  readonly operations: Operations
  readonly times: OperationTimes
  /** Whether nothing was said of the volume yet about this event of its recycler. */
  isNews(volume: PersistentVolume, event: Event): boolean
  /** What this process has begun to empty volumes with, by their names. */
  readonly recyclers: Map<string, BegunRecycler>
  /** Names of volumes whose recycler's pod went before it had ended. */
  readonly lostRecyclers: Set<string>
  /** What was remembered of the volume of this name. */
  forgetVolume(name: string): void
  /** Volumes that were made and are not seen yet, by the key of their claim. */
  readonly begun: Map<string, BegunVolume>
  /** Claims, by key, that were told why they get no volume, at the version that the same sync had given them. */
  readonly toldAtOwnVersion: Map<string, string>
  nodeNamed(name: string): Node | undefined
  /** A new uuid. */
  newId(): string
}

export interface BegunRecycler {
  readonly podUid: string | undefined
  /** Whose data goes: that of another claim is another matter, as is another volume of the name. */
  readonly claimUid: string | undefined
  readonly volumeUid: string | undefined
}

export interface BegunVolume {
  readonly claimUid: string | undefined
  readonly path: string
  readonly tries: number
  /** `given up`: its folder is to go. */
  readonly state: 'unsaved' | 'given up' | 'saved'
}

/** Not again before its time. */
interface Operations {
  isInBackoff(id: string): boolean
  failed(id: string): void
}

/** PUT of the volume; the own cache knows it at once. */
export function* saveVolume(
  binder: Binder,
  volume: PersistentVolume,
  subresource?: 'status',
): Reconcile<Outcome<PersistentVolume>> {
  const saved = yield* write(update(resources.persistentvolumes, volume, subresource))
  if (saved.ok) binder.volumes.written(saved.object)
  return saved
}

/** PUT of the claim; the own cache knows it at once. */
export function* saveClaim(
  binder: Binder,
  claim: PersistentVolumeClaim,
  subresource?: 'status',
): Reconcile<Outcome<PersistentVolumeClaim>> {
  const saved = yield* write(update(resources.persistentvolumeclaims, claim, subresource))
  if (saved.ok) binder.claims.written(saved.object)
  return saved
}

export function unchanged<T>(object: T): Outcome<T> {
  return { ok: true, object }
}
