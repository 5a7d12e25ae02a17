/**
 * The phase of a volume.
 * Contract: docs/behaviour/controllers/persistentvolume-binder-controller.md, Status and conditions.
 */
import type { PersistentVolume, PersistentVolumeStatus } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { saveVolume, unchanged } from '../binder.ts'
import type { Binder } from '../binder.ts'

type Phase = NonNullable<PersistentVolumeStatus['phase']>

/** An equal phase is not written again, whatever its message. */
export function* setPhase(
  binder: Binder,
  volume: PersistentVolume,
  phase: Phase,
  message?: string,
): Reconcile<Outcome<PersistentVolume>> {
  if (volume.status?.phase === phase) return unchanged(volume)
  const { message: _, ...before } = volume.status ?? {}
  const status = { ...before, phase, ...(message === undefined ? {} : { message }) }
  return yield* saveVolume(binder, { ...volume, status }, 'status')
}

/** Failed for good, until somebody mends it. Said once. */
export function* failVolume(
  binder: Binder,
  volume: PersistentVolume,
  reason: string,
  message: string,
): Reconcile {
  if (volume.status?.phase === 'Failed') return
  const written = yield* setPhase(binder, volume, 'Failed', message)
  if (!written.ok) return { error: written.error }
  yield* recordEvent(written.object, 'Warning', reason, message)
}

/** Its claim is gone, or was never this volume's. */
export function isReleased({ status }: PersistentVolume): boolean {
  return status?.phase === 'Released' || status?.phase === 'Failed'
}
