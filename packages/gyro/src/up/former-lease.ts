/** One manager in this process needs no lease; one of managers that ran on the same data would look as if nobody led. */
import { resources } from '@gyropilot/api'
import type { Lease } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'

const NAMESPACE = 'kube-system'
const NAME = 'kube-controller-manager'

/** Takes it away as soon as it has run out, or was given back; one that somebody renews is left to them. */
export async function removeFormerLease(client: Client, clock: Clock): Promise<void> {
  const leases = client.resource(resources.leases, NAMESPACE)
  try {
    const lease = await leases.get(NAME)
    await sleep(clock, leftMs(lease, clock.nowMs()))
    // Refused when it has been renewed meanwhile.
    const { uid = '', resourceVersion = '' } = lease.metadata ?? {}
    await leases.delete(NAME, { preconditions: { uid, resourceVersion } })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}

/** How long its holder may still renew it. */
function leftMs({ spec }: Lease, nowMs: number): number {
  if (!spec?.holderIdentity || !spec.renewTime) return 0
  const endsAtMs = Date.parse(spec.renewTime) + (spec.leaseDurationSeconds ?? 0) * 1000
  return Math.max(0, endsAtMs - nowMs)
}
