/**
 * What is mirrored at all.
 * Contract: docs/behaviour/controllers/endpointslice-mirroring-controller.md, Watches and keys.
 */
import type { Endpoints, Service } from '@gyropilot/api'
import { isLeaderLock } from '../endpoint-support/leader-annotation.ts'
import { SKIP_MIRROR_LABEL } from './config.ts'

export function isMirrorable(endpoints: Endpoints): boolean {
  return endpoints.metadata?.labels?.[SKIP_MIRROR_LABEL] !== 'true' && !isLeaderLock(endpoints)
}

/** Also of an empty selector: the EndpointSlice controller looks after the Service then. */
export function hasSelector({ spec }: Service): boolean {
  return spec?.selector !== undefined && spec.selector !== null
}
