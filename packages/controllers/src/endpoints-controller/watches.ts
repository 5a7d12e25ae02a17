/**
 * Which Services an event of Endpoints concerns. Events of Services and pods are in
 * `../endpoint-support`.
 * Contract: docs/behaviour/controllers/endpoints-controller.md, Watches and keys.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { Endpoints } from '@gyropilot/api'
import { keyOfDeleted } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { isLeaderLock } from '../endpoint-support/leader-annotation.ts'

/** Somebody deleted them: they are made anew. */
export const endpointsWatch: Watch<Endpoints> = {
  type: resources.endpoints,
  onDelete: (endpoints) => [keyOfDeleted(endpoints)],
}

/** Keys to look at once at the start: Endpoints whose Service went while nobody watched. */
export function leftOverKeys(endpoints: readonly Endpoints[]): readonly string[] {
  return endpoints.filter((each) => !isLeaderLock(each)).map(keyOf)
}
