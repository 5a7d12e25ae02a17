/** One sync of a pod. Step numbers are those of docs/behaviour/controllers/ephemeral-volume-controller.md. */
import {
  ephemeralClaimName,
  isControlledBy,
  isTerminating,
  keyOf,
  newControllerRef,
  resources,
} from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod, Volume } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { create, recordEvent, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { CreationMetrics } from './metrics.ts'

export interface ObservedPod {
  readonly pod: Pod
  claimNamed(name: string): PersistentVolumeClaim | undefined
}

export function* reconcile({ pod, claimNamed }: ObservedPod, metrics: CreationMetrics): Reconcile {
  // 1.
  if (isTerminating(pod)) return
  // 2. and 3.
  for (const volume of pod.spec?.volumes ?? []) {
    if (volume.ephemeral === undefined) continue
    const error = yield* ensureClaim(pod, volume, claimNamed, metrics)
    if (error === undefined) continue
    const message = `ephemeral volume ${volume.name}: ${error.message}`
    yield* recordEvent(pod, 'Warning', 'FailedBinding', message)
    return { error }
  }
}

function* ensureClaim(
  pod: Pod,
  volume: Volume,
  claimNamed: ObservedPod['claimNamed'],
  metrics: CreationMetrics,
): Reconcile<Error | undefined> {
  const name = ephemeralClaimName(pod, volume)
  const known = claimNamed(name)
  if (known !== undefined) return isControlledBy(known, pod) ? undefined : notOurs(pod, name)
  metrics.attempted()
  const created = yield* write(create(resources.persistentvolumeclaims, claimFor(pod, volume)))
  if (created.ok) return undefined
  metrics.failed()
  return new Error(`create PVC ${name}: ${errorText(created.error)}`, { cause: created.error })
}

/** It is another's for ever, or of an earlier pod and then soon collected. */
function notOurs(pod: Pod, name: string): Error {
  const claim = `${pod.metadata?.namespace}/${name}`
  return new Error(`PVC ${claim} was not created for pod ${keyOf(pod)} (pod is not owner)`)
}

/** Owned by the pod, so that the garbage collector takes it away with it. */
function claimFor(pod: Pod, volume: Volume): PersistentVolumeClaim {
  const { metadata, spec } = volume.ephemeral?.volumeClaimTemplate ?? {}
  const { labels, annotations } = metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: ephemeralClaimName(pod, volume),
      namespace: pod.metadata?.namespace,
      ownerReferences: [newControllerRef(pod, resources.pods)],
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    spec,
  }
}
