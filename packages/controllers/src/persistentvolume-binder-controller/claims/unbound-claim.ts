/**
 * A claim without a volume: one is found for it, or asked for, or waited for. Step numbers are those of
 * docs/behaviour/controllers/persistentvolume-binder-controller.md, Sync, Unbound.
 */
import { isVolumeFor, storageClassNameOf } from '@gyropilot/api'
import type { PersistentVolumeClaim, Pod } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { recordEvent } from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { hasLetGo } from '../../volume-support/let-go.ts'
import { hasAnnotation } from '../annotations.ts'
import { bind } from '../bind.ts'
import { saveClaim } from '../binder.ts'
import type { Binder } from '../binder.ts'
import { writeClaimStatus } from './claim-status.ts'
import { BOUND_BY_CONTROLLER, SELECTED_NODE } from '../config.ts'
import { ACCESS_MODE_INDEX, findVolume, mismatchOf } from './match-volume.ts'
import { provision } from '../provision.ts'
import { defaultClass, delayOf, isClassUnset } from './storage-class.ts'

export function reconcileUnbound(binder: Binder, claim: PersistentVolumeClaim): Reconcile {
  const volumeName = claim.spec?.volumeName
  return volumeName ? reconcileNamed(binder, claim, volumeName) : reconcileUnnamed(binder, claim)
}

function* reconcileUnnamed(binder: Binder, claim: PersistentVolumeClaim): Reconcile {
  // 1.
  const delay = delayOf(claim, (name) => binder.classNamed(name))
  if ('error' in delay) return { error: delay.error }
  // 2.
  const found = findVolume(claim, delay.delayed, (group) =>
    binder.volumes.byIndex(ACCESS_MODE_INDEX, group),
  )
  if (found !== undefined) return yield* bind(binder, found, claim)
  // 3.
  const byDefault = isClassUnset(claim) ? defaultClass(binder.classes()) : undefined
  if (byDefault !== undefined)
    return yield* assignClass(binder, claim, byDefault.metadata?.name ?? '')
  // 4.
  if (delay.delayed && !hasAnnotation(claim, SELECTED_NODE)) {
    yield* tellDelay(binder, claim)
    return yield* setPending(binder, claim)
  }
  // 5.
  if (storageClassNameOf(claim) !== '') return yield* provision(binder, claim)
  // 6.
  const text = 'no persistent volumes available for this claim and no storage class is set'
  yield* recordEvent(claim, 'Normal', 'FailedBinding', text)
  return yield* setPending(binder, claim)
}

/** The write is an event of its own: the claim comes again with its class. */
function* assignClass(
  binder: Binder,
  claim: PersistentVolumeClaim,
  storageClassName: string,
): Reconcile {
  const assigned = { ...claim, spec: { ...claim.spec, storageClassName } }
  const saved = yield* saveClaim(binder, assigned)
  binder.metrics.classAssigned(saved.ok)
  return saved.ok ? undefined : { error: saved.error }
}

function* tellDelay(binder: Binder, claim: PersistentVolumeClaim): Reconcile<void> {
  const names = binder
    .podsUsing(claim.metadata ?? {})
    .filter(awaitsNode)
    .map(({ metadata }) => metadata?.name ?? '')
    .sort(compareStrings)
  if (names.length === 0) {
    const text = 'waiting for first consumer to be created before binding'
    return yield* recordEvent(claim, 'Normal', 'WaitForFirstConsumer', text)
  }
  const pods = names.length === 1 ? `pod ${names[0]}` : `pods ${names.join(',')}`
  yield* recordEvent(claim, 'Normal', 'WaitForPodScheduled', `waiting for ${pods} to be scheduled`)
}

function awaitsNode(pod: Pod): boolean {
  return !pod.spec?.nodeName && !hasLetGo(pod)
}

function* reconcileNamed(
  binder: Binder,
  claim: PersistentVolumeClaim,
  volumeName: string,
): Reconcile {
  const volume = binder.volumes.get(undefined, volumeName)
  // 1.
  if (volume === undefined) return yield* setPending(binder, claim)
  // 2.
  if (volume.spec?.claimRef === undefined) {
    const reason = mismatchOf(volume, claim)
    if (reason === undefined) return yield* bind(binder, volume, claim)
    const text = `Cannot bind to requested volume "${volumeName}": ${reason}`
    yield* recordEvent(claim, 'Warning', 'VolumeMismatch', text)
    return yield* setPending(binder, claim)
  }
  // 3.
  if (isVolumeFor(volume, claim)) return yield* bind(binder, volume, claim)
  // 4.
  return yield* refuseTaken(binder, claim, volumeName)
}

function* refuseTaken(binder: Binder, claim: PersistentVolumeClaim, volumeName: string): Reconcile {
  const text = `volume "${volumeName}" already bound to a different claim.`
  yield* recordEvent(claim, 'Warning', 'FailedBinding', text)
  if (!hasAnnotation(claim, BOUND_BY_CONTROLLER)) return yield* setPending(binder, claim)
  // This controller chose the volume for the claim and somebody has taken it since.
  const { namespace, name } = claim.metadata ?? {}
  return { error: new Error(`invalid binding of claim ${namespace}/${name}: ${text}`) }
}

function* setPending(binder: Binder, claim: PersistentVolumeClaim): Reconcile<Verdict | void> {
  const written = yield* writeClaimStatus(binder, claim, 'Pending')
  if (!written.ok) return { error: written.error }
}
