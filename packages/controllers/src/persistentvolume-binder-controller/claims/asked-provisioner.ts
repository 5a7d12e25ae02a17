/** Who is asked for a volume, and what the claim is told when nobody can make it. */
import type { PersistentVolumeClaim } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { annotation, withAnnotation } from '../annotations.ts'
import { saveClaim, unchanged } from '../binder.ts'
import type { Binder } from '../binder.ts'
import { BETA_STORAGE_PROVISIONER, STORAGE_PROVISIONER } from '../config.ts'

/** By the annotation of today alone: where it is right, the older one is not looked at. */
export function* setProvisioner(
  binder: Binder,
  claim: PersistentVolumeClaim,
  provisioner: string,
): Reconcile<Outcome<PersistentVolumeClaim>> {
  if (annotation(claim, STORAGE_PROVISIONER) === provisioner) return unchanged(claim)
  const stable = withAnnotation(claim, STORAGE_PROVISIONER, provisioner)
  const asked = withAnnotation(stable, BETA_STORAGE_PROVISIONER, provisioner)
  return yield* saveClaim(binder, asked)
}

/** A class or a plugin that is not there will not come by trying: the next resync looks again. */
export function* refuse(claim: PersistentVolumeClaim, text: string): Reconcile {
  yield* recordEvent(claim, 'Warning', 'ProvisioningFailed', text)
}
