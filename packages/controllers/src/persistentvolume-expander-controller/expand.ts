/**
 * Makes a flex volume larger: on paper only, the driver does its part on the node.
 * Step numbers are those of docs/behaviour/controllers/persistentvolume-expander-controller.md, Expand.
 */
import { keyOf, resources } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { KubernetesObject, PersistentVolume, PersistentVolumeClaim } from '@gyropilot/api'
import type { Patch } from '@gyropilot/client'
import { currentTimeMs, patch, recordEvent, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { begunPatch, finishedPatch, nodePartPatch } from './claim-patches.ts'
import { PRE_RESIZE_CAPACITY } from './config.ts'
import { nextStep } from './next-step.ts'
import { claimSize } from './sizes.ts'

/** Throws what a write was refused with. */
export function* expand(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  driver: string,
): Reconcile<void> {
  // 1.
  const step = nextStep(claim, volume)
  if (step.kind === 'none') return
  if (step.kind === 'node-part') return yield* leaveToNode(claim, volume)
  // 2.
  const now = formatTime(yield* currentTimeMs())
  const begun = yield* claimPatched(claim, begunPatch(claim, driver, step.size, now))
  // 3. has nothing to do; 4.
  yield* volumePatched(volume, { spec: { capacity: { storage: step.size } } })
  // 5.
  if (volume.spec?.volumeMode !== 'Block') return yield* leaveToNode(begun, volume)
  yield* claimPatched(begun, finishedPatch(begun, step.size))
  const message = `ExpandVolume succeeded for volume ${keyOf(claim)}`
  yield* recordEvent(claim, 'Normal', 'VolumeResizeSuccessful', message)
}

function* leaveToNode(claim: PersistentVolumeClaim, volume: PersistentVolume): Reconcile<void> {
  const now = formatTime(yield* currentTimeMs())
  yield* claimPatched(claim, nodePartPatch(claim, now))
  const before = String(claimSize(claim))
  yield* volumePatched(volume, { metadata: { annotations: { [PRE_RESIZE_CAPACITY]: before } } })
}

function* claimPatched(
  claim: PersistentVolumeClaim,
  change: Patch,
): Reconcile<PersistentVolumeClaim> {
  const type = resources.persistentvolumeclaims
  const outcome = yield* write(patch(type, claim, change, 'status'))
  if (!outcome.ok) throw outcome.error
  return outcome.object
}

function* volumePatched(volume: KubernetesObject, value: object): Reconcile<void> {
  const change: Patch = { type: 'strategic', value }
  const outcome = yield* write(patch(resources.persistentvolumes, volume, change))
  if (!outcome.ok) throw outcome.error
}
