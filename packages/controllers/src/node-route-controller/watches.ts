/** With the gate only. Contract: docs/behaviour/controllers/node-route-controller.md, Watches and keys. */
import { deepEqual, resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { BucketRateLimiter, WithMaxWaitRateLimiter } from '@gyropilot/runtime'
import type { QueueKey, RateLimiter, Watch } from '@gyropilot/runtime'
import type { Clock } from '@gyropilot/foundation'
import { PASS_EVERY_MS } from './config.ts'

/** All routes are one work item. */
const ROUTES_KEY = 'routes'

/** One pass in ten seconds, and none waits longer. */
export function passLimiter(clock: Clock): RateLimiter {
  const bucket = new BucketRateLimiter(clock, 1_000 / PASS_EVERY_MS, 1)
  return new WithMaxWaitRateLimiter(bucket, PASS_EVERY_MS)
}

export function nodeWatch(limiter: RateLimiter, resyncPeriodMs: number): Watch<Node> {
  const pass = (): readonly QueueKey[] => [{ key: ROUTES_KEY, afterMs: limiter.whenMs(ROUTES_KEY) }]
  return {
    type: resources.nodes,
    resyncPeriodMs,
    onAdd: pass,
    onUpdate: (previous, current) => (concernsRoutes(previous, current) ? pass() : []),
    onDelete: pass,
  }
}

export function concernsRoutes(previous: Node, current: Node): boolean {
  return (
    previous.metadata?.resourceVersion === current.metadata?.resourceVersion ||
    !deepEqual(previous.spec?.podCIDRs ?? [], current.spec?.podCIDRs ?? []) ||
    !deepEqual(previous.status?.addresses ?? [], current.status?.addresses ?? [])
  )
}
