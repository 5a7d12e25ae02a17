/** Revisions that were found under their name and are not the owner's own. Contract: docs/behaviour/controllers/shared-controller-utils.md. */
import { controllerOf } from '@gyropilot/api'
import type { ControllerRevision, KubernetesObject } from '@gyropilot/api'

/** What belongs to an owner that is gone, the garbage collector takes away, and no event of it leads to the one who uses it too. */
const BORROWED_RECHECK_MS = 1_000

/** When to look again at a revision that another controls: an owner of the same name and template, as a rule, that is gone. */
export function borrowedRecheckMs(
  revision: ControllerRevision,
  user: KubernetesObject,
): number | undefined {
  return controllerOf(revision)?.uid === user.metadata?.uid ? undefined : BORROWED_RECHECK_MS
}
