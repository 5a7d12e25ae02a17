/**
 * One sync of a Job. Step numbers are those of
 * docs/behaviour/controllers/ttl-after-finished-controller.md; step 1 is the observation's.
 */
import { resources } from '@gyropilot/api'
import type { Job } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import {
  compareResourceVersions,
  currentTimeMs,
  getLive,
  isResourceVersion,
  remove,
  write,
} from '@gyropilot/runtime'
import type { Reconcile, Verdict } from '@gyropilot/runtime'
import { expiryMs, needsCleanup } from './expiry.ts'

/** The cached Job says only whether it is worth asking; the live one decides. */
export function* reconcile(
  cached: Job,
  onDeleted: (sinceExpiryMs: number) => void,
): Reconcile<Verdict> {
  const worthAsking = yield* judge(cached)
  if (worthAsking !== EXPIRED) return worthAsking
  // 5.
  const { namespace, name = '' } = cached.metadata ?? {}
  const live = yield* getLive(resources.jobs, namespace, name)
  if (!live.ok) {
    return isNotFound(live.error) ? { requeueAfterMs: RECHECK_MS } : { error: live.error }
  }
  if (isBehind(live.object, cached))
    return { error: new Error(`job ${namespace}/${name} was read as it was before`) }
  // 6. Its TTL may have been raised or taken away, and the name may be another Job's now.
  const verdict = yield* judge(live.object)
  if (verdict !== EXPIRED) return verdict
  // 7.
  const uid = live.object.metadata?.uid ?? ''
  const deleted = yield* write(
    remove(resources.jobs, live.object, {
      propagationPolicy: 'Foreground',
      preconditions: { uid },
    }),
  )
  // 8.
  if (!deleted.ok) return { error: deleted.error }
  // 9.
  onDeleted((yield* currentTimeMs()) - expiryMs(live.object))
  return {}
}

/** The event of the deletion comes before; if none does, the server did not yet know the Job that it called missing. */
const RECHECK_MS = 10_000

/** A server that lags may answer with less than it has told the cache: it must not call off the deletion. */
function isBehind(live: Job, cached: Job): boolean {
  const [liveVersion, cachedVersion] = [live, cached].map(
    ({ metadata }) => metadata?.resourceVersion,
  )
  return (
    live.metadata?.uid === cached.metadata?.uid &&
    isResourceVersion(liveVersion) &&
    isResourceVersion(cachedVersion) &&
    compareResourceVersions(liveVersion, cachedVersion) < 0
  )
}

const EXPIRED = 'expired'

/** 2.-4. */
function* judge(job: Job): Reconcile<Verdict | typeof EXPIRED> {
  if (!needsCleanup(job)) return {}
  let expiresMs: number
  try {
    expiresMs = expiryMs(job)
  } catch (error) {
    return { error }
  }
  const remainingMs = expiresMs - (yield* currentTimeMs())
  return remainingMs > 0 ? { requeueAfterMs: remainingMs } : EXPIRED
}
