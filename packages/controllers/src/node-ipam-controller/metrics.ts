/** Contract: docs/behaviour/controllers/node-ipam-controller.md, Metrics. */
import type { MetricsRegistry } from '@gyropilot/foundation'

/** Of one range of the cluster. */
export interface RangeMetrics {
  /** How many slots there are. */
  size(slots: number): void
  /** So many slots were taken; `usage` is the share of all that are, 0 to 1. */
  taken(slots: number, usage: number): void
  /** So many slots were given back. */
  released(slots: number, usage: number): void
  /** Slots that were passed over before a free one was found. */
  skipped(slots: number): void
}

const PREFIX = 'node_ipam_controller_'

export function rangeMetrics(metrics: MetricsRegistry): (clusterCidr: string) => RangeMetrics {
  const labels = ['clusterCIDR']
  const allocations = metrics.counter({
    name: `${PREFIX}cidrset_cidrs_allocations_total`,
    help: 'Counter measuring total number of CIDR allocations.',
    labels,
  })
  const releases = metrics.counter({
    name: `${PREFIX}cidrset_cidrs_releases_total`,
    help: 'Counter measuring total number of CIDR releases.',
    labels,
  })
  // Spelled so by upstream.
  const most = metrics.gauge({
    name: `${PREFIX}cirdset_max_cidrs`,
    help: 'Maximum number of CIDRs that can be allocated.',
    labels,
  })
  const used = metrics.gauge({
    name: `${PREFIX}cidrset_usage_cidrs`,
    help: 'Gauge measuring percentage of allocated CIDRs.',
    labels,
  })
  const tries = metrics.histogram({
    name: `${PREFIX}cidrset_allocation_tries_per_request`,
    help: 'Number of endpoints added on each Service sync',
    labels,
    buckets: [1, 5, 25, 125, 625],
  })
  return (clusterCIDR) => {
    const label = { clusterCIDR }
    return {
      size: (slots) => most.set(slots, label),
      taken(slots, usage) {
        allocations.increment(label, slots)
        used.set(usage, label)
      },
      released(slots, usage) {
        releases.increment(label, slots)
        used.set(usage, label)
      },
      skipped: (slots) => tries.observe(slots, label),
    }
  }
}
