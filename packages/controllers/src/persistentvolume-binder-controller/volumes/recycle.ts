/**
 * A released volume is emptied by a pod and given back.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Reclaim, Recycle.
 */
import { isAlreadyExists, isNotFound } from '@gyropilot/client'
import {
  compareQuantities,
  isPodFinished,
  isTerminating,
  keyOf,
  quantityToInteger,
  resources,
  volumeCapacity,
} from '@gyropilot/api'
import type { Event, PersistentVolume, Pod } from '@gyropilot/api'
import { compareStrings, errorText } from '@gyropilot/foundation'
import { create, listLive, recordEvent, remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { hasLetGo } from '../../volume-support/let-go.ts'
import type { BegunRecycler, Binder } from '../binder.ts'
import type { PersistentVolumeBinderConfiguration, RecyclerConfiguration } from '../config.ts'
import { liveReleased } from './released-volume.ts'
import { recyclerOf } from '../storage-plugin.ts'
import { unbind } from '../unbind.ts'
import { failVolume } from './volume-phase.ts'

const NAMESPACE = 'default'
const NAME_PREFIX = 'recycler-for-'
const IMAGE = 'registry.k8s.io/build-image/debian-base:bookworm-v1.0.6'
const SCRIPT =
  'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1'
const NOT_RECYCLED = 'failed to recycle volume'
const GIBIBYTE = 1024 ** 3

/** The volume that the pod empties; undefined for other pods. */
export function recycledVolume({ metadata }: Pod): string | undefined {
  const { namespace, name = '' } = metadata ?? {}
  if (namespace !== NAMESPACE || !name.startsWith(NAME_PREFIX)) return undefined
  return name.slice(NAME_PREFIX.length)
}

/** Begun, or seen to its end: the pod's own events bring the volume back here. */
export function* recycle(binder: Binder, cached: PersistentVolume): Reconcile {
  if (recyclerOf(cached, binder.settings) === undefined) {
    const text = 'No recycler plugin found for the volume!'
    return yield* failVolume(binder, cached, 'VolumeFailedRecycle', text)
  }
  const pod = binder.podNamed(NAMESPACE, `${NAME_PREFIX}${cached.metadata?.name}`)
  const isOwn = pod !== undefined && begunFor(binder, cached)?.podUid === pod.metadata?.uid
  if (isOwn) {
    binder.lostRecyclers.delete(keyOf(cached))
    yield* copyEvents(binder, cached, pod)
    // On its way out too: it has failed when it has gone.
    if (!isPodFinished(pod)) return
  }
  const live = yield* liveReleased(binder, cached)
  if ('error' in live) return live
  if (live.volume === undefined) return
  if (binder.lostRecyclers.delete(keyOf(cached)))
    return yield* failRecycling(binder, live.volume, `${NOT_RECYCLED}: recycler pod was deleted`)
  return isOwn && !isTerminating(pod)
    ? yield* conclude(binder, live.volume, pod)
    : yield* begin(binder, live.volume)
}

/** What this process empties it with; undefined: nothing yet of the data that is in it now. */
function begunFor({ recyclers }: Binder, volume: PersistentVolume): BegunRecycler | undefined {
  const begun = recyclers.get(keyOf(volume))
  const { claimUid, volumeUid } = dataOf(volume)
  return begun?.claimUid === claimUid && begun?.volumeUid === volumeUid ? begun : undefined
}

function dataOf({ metadata, spec }: PersistentVolume): Omit<BegunRecycler, 'podUid'> {
  return { claimUid: spec?.claimRef?.uid, volumeUid: metadata?.uid }
}

function* begin(binder: Binder, volume: PersistentVolume): Reconcile {
  const { namespace, name } = volume.spec?.claimRef ?? {}
  const users =
    binder.claims.get(namespace, name ?? '') === undefined
      ? binder.podsUsing({ namespace, name }).filter((pod) => !hasLetGo(pod))
      : []
  if (users.length > 0) {
    const names = users
      .map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)
      .sort(compareStrings)
      .join(',')
    const text = `Volume is used by pods: ${names}`
    return yield* recordEvent(volume, 'Normal', 'VolumeFailedRecycle', text)
  }
  const pod = recyclerPod(volume, binder.settings)
  const created = yield* write(create(resources.pods, pod))
  if (created.ok) {
    const podUid = created.object.metadata?.uid
    binder.recyclers.set(keyOf(volume), { podUid, ...dataOf(volume) })
    return
  }
  if (!isAlreadyExists(created.error))
    return yield* failRecycling(
      binder,
      volume,
      `unexpected error creating recycler pod:  ${errorText(created.error)}`,
    )
  // Of this process, and not in the cache yet.
  if (begunFor(binder, volume) !== undefined) return
  return yield* discard(binder, volume, pod)
}

/** One that this process has not begun may have emptied an earlier volume of the name, or none: what it comes to says nothing. */
function* discard(binder: Binder, volume: PersistentVolume, pod: Pod): Reconcile {
  const removed = yield* write(remove(resources.pods, pod))
  if (!removed.ok && !isNotFound(removed.error)) return { error: removed.error }
  return yield* failRecycling(binder, volume, 'old recycler pod found, will retry later')
}

/** The pod goes first: its end may be counted once only. */
function* conclude(binder: Binder, volume: PersistentVolume, pod: Pod): Reconcile {
  const preconditions = { uid: pod.metadata?.uid }
  const removed = yield* write(remove(resources.pods, pod, { preconditions }))
  if (!removed.ok) return isNotFound(removed.error) ? undefined : { error: removed.error }
  if (pod.status?.phase === 'Succeeded') {
    yield* recordEvent(volume, 'Normal', 'VolumeRecycled', 'Volume recycled')
    return yield* unbind(binder, volume)
  }
  const why = pod.status?.message ?? 'pod failed, pod.Status.Message unknown'
  return yield* failRecycling(binder, volume, `${NOT_RECYCLED}: ${why}`)
}

/** Each later sync tries again: that of the volume's own change of phase, then those of the timer. */
function failRecycling(binder: Binder, volume: PersistentVolume, why: string): Reconcile {
  return failVolume(binder, volume, 'VolumeFailedRecycle', `Recycle failed: ${why}`)
}

/** What happens to the pod is told of the volume too. */
function* copyEvents(binder: Binder, volume: PersistentVolume, pod: Pod): Reconcile<void> {
  const { name, namespace, uid } = pod.metadata ?? {}
  const fieldSelector = `involvedObject.name=${name},involvedObject.namespace=${namespace},involvedObject.uid=${uid}`
  const listed = yield* listLive(resources.events, NAMESPACE, { fieldSelector })
  // They are told the next time.
  if (!listed.ok) return
  const events = [...listed.object.items].sort((a, b) =>
    compareStrings(timeOf(a) + a.metadata?.name, timeOf(b) + b.metadata?.name),
  )
  for (const event of events) {
    if (!binder.isNews(volume, event)) continue
    const type = event.type === 'Normal' ? 'Normal' : 'Warning'
    yield* recordEvent(volume, type, 'RecyclerPod', `Recycler pod: ${event.message}`)
  }
}

function timeOf({ lastTimestamp, eventTime, metadata }: Event): string {
  return lastTimestamp ?? eventTime ?? metadata?.creationTimestamp ?? ''
}

export function recyclerPod(
  volume: PersistentVolume,
  settings: PersistentVolumeBinderConfiguration,
): Pod {
  const { hostPath, nfs } = volume.spec ?? {}
  const recycler = recyclerOf(volume, settings)
  const source = hostPath === undefined ? { nfs } : { hostPath }
  const name = `${NAME_PREFIX}${volume.metadata?.name}`
  const activeDeadlineSeconds = deadlineSeconds(volume, recycler)
  const template = recycler?.podTemplate
  if (template !== undefined) {
    const [first, ...others] = template.spec?.volumes ?? []
    return {
      ...template,
      metadata: { ...template.metadata, name, namespace: NAMESPACE },
      spec: {
        ...template.spec!,
        activeDeadlineSeconds,
        volumes: [{ name: first?.name ?? 'vol', ...source }, ...others],
      },
    }
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds,
      containers: [
        {
          name: 'pv-recycler',
          image: IMAGE,
          command: ['/bin/sh'],
          args: ['-c', SCRIPT],
          volumeMounts: [{ name: 'vol', mountPath: '/scrub' }],
        },
      ],
      volumes: [{ name: 'vol', ...source }],
    },
  }
}

function deadlineSeconds(
  volume: PersistentVolume,
  { minimumSeconds = 0, secondsPerGibibyte = 0 }: Partial<RecyclerConfiguration> = {},
): number {
  const capacity = volumeCapacity(volume)
  if (compareQuantities(capacity, GIBIBYTE) < 0) return minimumSeconds
  const gibibytes = Math.floor(quantityToInteger(capacity) / GIBIBYTE)
  return Math.max(minimumSeconds, secondsPerGibibyte * gibibytes)
}
