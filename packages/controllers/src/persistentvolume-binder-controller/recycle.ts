/**
 * A released volume is emptied by a pod and given back.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Reclaim, Recycle.
 */
import { isAlreadyExists, isNotFound } from '@gyropilot/client'
import {
  compareQuantities,
  isTerminating,
  quantityToInteger,
  resources,
  volumeCapacity,
} from '@gyropilot/api'
import type { PersistentVolume, Pod } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { create, recordEvent, remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { Binder } from './binder.ts'
import { liveReleased, operationId } from './released-volume.ts'
import { recyclerOf } from './storage-plugin.ts'
import { unbind } from './unbind.ts'
import { failVolume } from './volume-phase.ts'

const NAMESPACE = 'default'
const NAME_PREFIX = 'recycler-for-'
const IMAGE = 'registry.k8s.io/build-image/debian-base:bookworm-v1.0.6'
const SCRIPT =
  'test -e /scrub && find /scrub -mindepth 1 -delete && test -z "$(ls -A /scrub)" || exit 1'
const GIBIBYTE = 1024 ** 3

/** The volume that the pod empties; undefined for other pods. */
export function recycledVolume({ metadata }: Pod): string | undefined {
  const { namespace, name = '' } = metadata ?? {}
  if (namespace !== NAMESPACE || !name.startsWith(NAME_PREFIX)) return undefined
  return name.slice(NAME_PREFIX.length)
}

/** Begun, or seen to its end: the pod's own events bring the volume back here. */
export function* recycle(binder: Binder, cached: PersistentVolume): Reconcile {
  if (recyclerOf(cached) === undefined) {
    const text = 'No recycler plugin found for the volume!'
    return yield* failVolume(binder, cached, 'VolumeFailedRecycle', text)
  }
  if (binder.operations.isInBackoff(operationId('recycle', cached))) return
  const pod = binder.podNamed(NAMESPACE, `${NAME_PREFIX}${cached.metadata?.name}`)
  const isRunning = pod !== undefined && !isTerminating(pod) && !hasEnded(pod)
  if (isRunning) return
  const live = yield* liveReleased(binder, cached)
  if ('error' in live) return live
  if (live.volume === undefined) return
  return pod === undefined || isTerminating(pod)
    ? yield* begin(binder, live.volume)
    : yield* conclude(binder, live.volume, pod)
}

function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed'
}

function* begin(binder: Binder, volume: PersistentVolume): Reconcile {
  const { namespace, name } = volume.spec?.claimRef ?? {}
  const users =
    binder.claims.get(namespace, name ?? '') === undefined
      ? binder.podsUsing({ namespace, name }).filter((pod) => !hasEnded(pod))
      : []
  if (users.length > 0) {
    const names = users
      .map(({ metadata }) => `${metadata?.namespace}/${metadata?.name}`)
      .sort(compareStrings)
      .join(',')
    const text = `Volume is used by pods: ${names}`
    return yield* recordEvent(volume, 'Normal', 'VolumeFailedRecycle', text)
  }
  const created = yield* write(create(resources.pods, recyclerPod(volume)))
  // One of an earlier run, or of another manager: what it comes to is what counts.
  if (created.ok || isAlreadyExists(created.error)) return
  return { error: created.error }
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
  binder.operations.failed(operationId('recycle', volume))
  const why = pod.status?.message ?? 'pod failed, pod.Status.Message unknown'
  return yield* failVolume(binder, volume, 'VolumeFailedRecycle', `Recycle failed: ${why}`)
}

export function recyclerPod(volume: PersistentVolume): Pod {
  const { hostPath, nfs } = volume.spec ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${NAME_PREFIX}${volume.metadata?.name}`, namespace: NAMESPACE },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: deadlineSeconds(volume),
      containers: [
        {
          name: 'pv-recycler',
          image: IMAGE,
          command: ['/bin/sh'],
          args: ['-c', SCRIPT],
          volumeMounts: [{ name: 'vol', mountPath: '/scrub' }],
        },
      ],
      volumes: [{ name: 'vol', ...(hostPath === undefined ? { nfs } : { hostPath }) }],
    },
  }
}

function deadlineSeconds(volume: PersistentVolume): number {
  const { minimumSeconds = 0, secondsPerGibibyte = 0 } = recyclerOf(volume) ?? {}
  const capacity = volumeCapacity(volume)
  if (compareQuantities(capacity, GIBIBYTE) < 0) return minimumSeconds
  const gibibytes = Math.floor(quantityToInteger(capacity) / GIBIBYTE)
  return Math.max(minimumSeconds, secondsPerGibibyte * gibibytes)
}
