/**
 * Which requests an event concerns. Slices and claims are looked at, not waited for.
 * Contract: docs/behaviour/controllers/resourcepoolstatusrequest-controller.md, Watches and keys.
 */
import type { ResourcePoolStatusRequest } from '@gyropilot/api'
import { keyOf } from '@gyropilot/api'
import type { Watch } from '@gyropilot/runtime'
import { POOL_STATUS_REQUESTS } from './pool-status-request.ts'

const unanswered = (request: ResourcePoolStatusRequest): readonly string[] =>
  request.status === undefined ? [keyOf(request)] : []

export const requestWatch: Watch<ResourcePoolStatusRequest> = {
  type: POOL_STATUS_REQUESTS,
  onAdd: unanswered,
  onUpdate: (_, current) => unanswered(current),
}
