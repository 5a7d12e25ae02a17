/**
 * Which Jobs an event concerns.
 * Contract: docs/behaviour/controllers/ttl-after-finished-controller.md, Watches and keys.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { Job } from '@gyropilot/api'
import type { Watch } from '@gyropilot/runtime'
import { needsCleanup } from './expiry.ts'

const keys = (job: Job): readonly string[] => (needsCleanup(job) ? [keyOf(job)] : [])

export const jobWatch: Watch<Job> = {
  type: resources.jobs,
  onAdd: keys,
  onUpdate: (_previous, current) => keys(current),
}
