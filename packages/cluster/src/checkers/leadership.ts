import { resources } from '@gyropilot/api'
import type { Objects } from '../simulated/objects.ts'
import { MANAGER_LEASE } from '../simulated/programs.ts'
import { isWrite } from '../simulated/request-facts.ts'
import type { ClusterObserver } from '../simulated/cluster-observer.ts'
import type { Report } from './violation.ts'

/**
 * No manager sends a write while the Lease names somebody else. Judged when the write leaves the process: one
 * that was sent in time and arrives late is beyond what the process can know.
 */
export function leadership(report: Report, objects: Objects): ClusterObserver {
  const { namespace } = MANAGER_LEASE
  return {
    sent(facts, life) {
      if (life.identity === '' || facts.link === 'leader-election' || !isWrite(facts)) return
      const lease = objects.find(resources.leases, namespace, life.leaseName)
      const holder = lease?.spec?.holderIdentity ?? ''
      if (holder !== life.identity)
        report(
          'leadership',
          `${life.id} sent ${facts.method} ${facts.path} while the leader is ${holder || 'nobody'}`,
        )
    },
  }
}
