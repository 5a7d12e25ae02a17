/** One sync of a claim. Step numbers are those of docs/behaviour/controllers/persistentvolume-expander-controller.md. */
import { keyOf, resources } from '@gyropilot/api'
import type { PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import { errorText } from '@gyropilot/foundation'
import { elapsedTimeMs, getLive, patch, recordEvent, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { resizerPatch } from './claim-patches.ts'
import { PRE_RESIZE_CAPACITY } from './config.ts'
import { expand } from './expand.ts'
import type { ExpansionMetrics } from './metrics.ts'
import { resizerOf } from './resizer.ts'
import { claimSize, isMore, requestedSize, volumeSize } from './sizes.ts'

export function* reconcile(claim: PersistentVolumeClaim, metrics: ExpansionMetrics): Reconcile {
  const { volumeName = '' } = claim.spec ?? {}
  // 2.
  const found = yield* getLive(resources.persistentvolumes, undefined, volumeName)
  if (!found.ok) return { error: because(`failed to get PV ${JSON.stringify(volumeName)}`, found) }
  const volume = found.object
  // 3.
  if (!isVolumeOf(volume, claim))
    return {
      error: new Error(`persistent Volume is not bound to PVC being updated : ${keyOf(claim)}`),
    }
  // 4.
  const isMarked = volume.metadata?.annotations?.[PRE_RESIZE_CAPACITY] !== undefined
  const isLargeEnough = !isMore(requestedSize(claim), claimSize(claim))
  if (isLargeEnough && !isMarked) return
  const resizer = resizerOf(volume)
  switch (resizer.kind) {
    case 'migrated': // 5.
      return yield* handToDriver(claim, resizer)
    case 'external': // 6.
      yield* recordEvent(
        claim,
        'Normal',
        'ExternalExpanding',
        'waiting for an external controller to expand this PVC',
      )
      return
    case 'flex': // 7. and 8.
      if (isLargeEnough && !isMore(volumeSize(volume), claimSize(claim)))
        return yield* removeMark(volume)
      return yield* expandFlex(claim, volume, resizer.driver, metrics)
  }
}

/** A volume of an earlier claim of the same name is another's. */
function isVolumeOf({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { namespace, uid } = spec?.claimRef ?? {}
  return namespace === metadata?.namespace && uid === metadata?.uid
}

function* handToDriver(
  claim: PersistentVolumeClaim,
  { plugin, driver }: { readonly plugin: string; readonly driver: string },
): Reconcile {
  const message = `CSI migration enabled for ${plugin}; waiting for external resizer to expand the pvc`
  yield* recordEvent(claim, 'Normal', 'ExternalExpanding', message)
  const type = resources.persistentvolumeclaims
  const set = yield* write(patch(type, claim, resizerPatch(claim, driver), 'status'))
  if (set.ok) return
  const failure = `error setting resizer annotation to pvc ${keyOf(claim)}, with error ${errorText(set.error)}`
  yield* recordEvent(claim, 'Warning', 'ExternalExpanding', failure)
  return { error: new Error(failure, { cause: set.error }) }
}

/** The kubelet has finished. */
function* removeMark(volume: PersistentVolume): Reconcile {
  const value = { metadata: { annotations: { [PRE_RESIZE_CAPACITY]: null } } }
  const change = { type: 'strategic' as const, value }
  const removed = yield* write(patch(resources.persistentvolumes, volume, change))
  if (!removed.ok) return { error: removed.error }
}

function* expandFlex(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  driver: string,
  metrics: ExpansionMetrics,
): Reconcile {
  const startMs = yield* elapsedTimeMs()
  const error = yield* failureOf(expand(claim, volume, driver))
  metrics.expanded(driver, error === undefined, (yield* elapsedTimeMs()) - startMs)
  if (error === undefined) return
  yield* recordEvent(claim, 'Warning', 'VolumeResizeFailed', errorText(error))
  return { error }
}

function* failureOf(rules: Reconcile<void>): Reconcile<unknown> {
  try {
    yield* rules
  } catch (error) {
    return error
  }
}

function because(what: string, { error }: { readonly error: unknown }): Error {
  return new Error(`${what}: ${errorText(error)}`, { cause: error })
}
