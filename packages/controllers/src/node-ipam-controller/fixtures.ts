/** Smallest valid objects of the node IPAM controller's tests. */
import type { Cidr, Node } from '@gyropilot/api'
import { formatCidr, parseCidr } from '@gyropilot/api'
import { RecordingMetrics } from '@gyropilot/runtime/testing'
import { CidrSet } from './cidr-set.ts'
import { rangeMetrics } from './metrics.ts'
import { NodeRanges } from './node-ranges.ts'

function cidr(text: string): Cidr {
  const parsed = parseCidr(text)
  if (parsed === undefined) throw new Error(`${text} is no CIDR`)
  return parsed
}

/** A set of `10.0.0.0/28` cut into parts of `nodeBits`. */
export function cidrSet(range: string, nodeBits: number, metrics = new RecordingMetrics()) {
  const set = new CidrSet({ cidr: cidr(range), nodeBits }, rangeMetrics(metrics)(range))
  return {
    set,
    metrics,
    next: () => formatCidr(set.next()),
    occupy: (text: string) => set.occupy(cidr(text)),
    release: (text: string) => set.release(cidr(text)),
    value: (name: string) =>
      metrics.value(`node_ipam_controller_${name}`, { clusterCIDR: range }) ?? 0,
    tries: () =>
      metrics.observed('node_ipam_controller_cidrset_allocation_tries_per_request', {
        clusterCIDR: range,
      }),
  }
}

/** `['10.0.0.0/28', 30]` each. */
export function nodeRanges(
  sets: readonly (readonly [string, number])[],
  serviceRanges: readonly string[] = [],
): NodeRanges {
  const made = sets.map(([range, nodeBits]) => cidrSet(range, nodeBits).set)
  return new NodeRanges(made, serviceRanges.map(cidr))
}

export function node(name: string, podCIDRs: readonly string[] = [], uid = `${name}-uid`): Node {
  const [podCIDR] = podCIDRs
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid },
    spec: podCIDR === undefined ? {} : { podCIDR, podCIDRs },
  }
}

export function leaving(target: Node): Node {
  return {
    ...target,
    metadata: {
      ...target.metadata,
      deletionTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['a/b'],
    },
  }
}
