/** One sync of a pod. Step numbers are those of docs/behaviour/controllers/selinux-warning-controller.md. */
import { isPodFinished, keyOf } from '@gyropilot/api'
import type { CSIDriver, Pod, Volume } from '@gyropilot/api'
import { aggregateErrors } from '@gyropilot/foundation'
import { recordEvent } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { specOfPodVolume } from '../volume-support/volume-spec.ts'
import type { VolumeSources, VolumeSpec } from '../volume-support/volume-spec.ts'
import { conflictMessage, multipleLabelsMessage } from './events.ts'
import { labelsOfMounts } from './pod-mounts.ts'
import type { Conflict, VolumeCache, VolumeUse } from './volume-cache.ts'

export interface ObservedPod extends VolumeSources {
  readonly pod: Pod
  readonly cache: VolumeCache
  /** Off: no label is ever computed. */
  readonly hasLabels: boolean
  driverNamed(name: string): CSIDriver | undefined
  podByKey(key: string): Pod | undefined
}

export function* reconcile(observed: ObservedPod): Reconcile {
  const { pod, cache } = observed
  // 1.
  if (isPodFinished(pod)) {
    cache.forget(keyOf(pod))
    return
  }
  cache.admit(keyOf(pod), pod.metadata?.uid)
  const errors: unknown[] = []
  const mounted = labelsOfMounts(pod)
  for (const volume of pod.spec?.volumes ?? []) {
    try {
      // 2.
      const spec = specOfPodVolume(pod, volume, observed)
      // 3.
      const labels = mounted.get(volume.name)
      if (labels !== undefined) yield* syncVolume(observed, volume, spec, labels)
    } catch (error) {
      errors.push(error)
    }
  }
  // 4.
  if (errors.length > 0) return { error: aggregateErrors(errors) }
}

/** `spec` undefined: of a plugin that mounts nothing with a label, so that it conflicts with nothing. */
function* syncVolume(
  observed: ObservedPod,
  { name }: Volume,
  spec: VolumeSpec | undefined,
  labels: readonly string[],
): Reconcile<void> {
  const { pod, cache, hasLabels } = observed
  if (hasLabels && labels.length > 1) {
    const message = multipleLabelsMessage(name)
    yield* recordEvent(pod, 'Warning', 'MultipleSELinuxLabels', message)
    throw new Error(`volume ${name} of pod ${keyOf(pod)} has several SELinux labels`)
  }
  if (spec === undefined) return
  const use = useOf(observed, spec, hasLabels ? (labels[0] ?? '') : '')
  for (const conflict of cache.add(spec.uniqueName, keyOf(pod), use))
    if (!(yield* tell(observed, conflict))) return
}

const RECURSIVE = 'Recursive'

function useOf({ pod, driverNamed }: ObservedPod, { csi }: VolumeSpec, asked: string): VolumeUse {
  const isSupported = csi === undefined || driverNamed(csi.driver)?.spec.seLinuxMount === true
  const policy = pod.spec?.securityContext?.seLinuxChangePolicy ?? 'MountOption'
  const label = isSupported && policy !== RECURSIVE ? asked : ''
  const changePolicy = label === '' ? RECURSIVE : policy
  return { label, changePolicy, ...(csi && { driver: csi.driver }) }
}

/** Answers whether the pod is still there. */
function* tell({ podByKey }: ObservedPod, conflict: Conflict): Reconcile<boolean> {
  const pod = podByKey(conflict.pod)
  if (pod === undefined) return false
  const reason = `${conflict.property}Conflict`
  yield* recordEvent(pod, 'Normal', reason, conflictMessage(conflict))
  return true
}
