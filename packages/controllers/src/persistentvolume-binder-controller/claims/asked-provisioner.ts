/** Who is asked for a volume, and what the claim is told when nobody can make it. */
import type { PersistentVolumeClaim } from '@gyropilot/api'
import { recordEvent } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { withAnnotation } from '../annotations.ts'
import { saveClaim, unchanged } from '../binder.ts'
import type { Binder } from '../binder.ts'
import { BETA_STORAGE_PROVISIONER, STORAGE_PROVISIONER } from '../config.ts'

export function* setProvisioner(
  binder: Binder,
  claim: PersistentVolumeClaim,
  provisioner: string,
): Reconcile<Outcome<PersistentVolumeClaim>> {
  const stable = withAnnotation(claim, STORAGE_PROVISIONER, provisioner)
  const asked = withAnnotation(stable, BETA_STORAGE_PROVISIONER, provisioner)
  return asked === claim ? unchanged(claim) : yield* saveClaim(binder, asked)
}

/** A class or a plugin that is not there will not come by trying: the next resync looks again. */
export function* refuse(claim: PersistentVolumeClaim, text: string): Reconcile {
  yield* recordEvent(claim, 'Warning', 'ProvisioningFailed', text)
}
