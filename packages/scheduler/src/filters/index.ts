/** Which nodes can take a pod, in the order in which kube-scheduler asks. Contract: docs/behaviour/simulation/scheduler.md, Filters. Pure. */
import {
  hostPortsConflict,
  hostPortsOf,
  isTaintTolerated,
  nodeAffinityMatches,
  podRequests,
} from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import type { NodeInfo } from '../node-info.ts'
import type { Snapshot } from '../snapshot.ts'
import type { NodeFilter, PreparedFilter } from './node-filter.ts'
import { NO_AFFINITY, podAffinity } from './pod-affinity.ts'
import { NO_LABEL, topologySpread } from './topology-spread.ts'

/** What all nodes have in common is found out once for a pod. Undefined: it does not concern this pod. */
type Filter = (pod: Pod, snapshot: Snapshot) => NodeFilter | undefined

/** Whether the filter of devices, and not the node's own count, judges the resource there. */
export type ServedByDevices = (info: NodeInfo, resource: string) => boolean

/** Whether taking pods away from the node can help: preemption looks at those only. */
type Curable = (pod: Pod) => PreparedFilter['isCurable']

export interface NamedFilter {
  readonly name: string
  readonly filter: Filter
  readonly curable: boolean | Curable
}

const NONE: readonly string[] = []

const nodeUnschedulable: Filter = (pod) => {
  const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' } as const
  if (isTaintTolerated(pod.spec?.tolerations, taint)) return undefined
  return ({ unschedulable }) => (unschedulable ? ['node(s) were unschedulable'] : NONE)
}

const taintToleration: Filter =
  (pod, { tolerationOptions }) =>
  ({ taints }) => {
    if (taints.length === 0) return NONE
    const inTheWay = taints.some(
      (taint) =>
        (taint.effect === 'NoSchedule' || taint.effect === 'NoExecute') &&
        !isTaintTolerated(pod.spec?.tolerations, taint, tolerationOptions),
    )
    return inTheWay ? ['node(s) had untolerated taint(s)'] : NONE
  }

const nodeAffinity: Filter = ({ spec }) => {
  if (spec?.nodeSelector === undefined && spec?.affinity?.nodeAffinity === undefined)
    return undefined
  return ({ node }) =>
    nodeAffinityMatches(spec, node!) ? NONE : ["node(s) didn't match Pod's node affinity/selector"]
}

const nodePorts: Filter = (pod) => {
  const wanted = hostPortsOf(pod)
  if (wanted.length === 0) return undefined
  return (info) => {
    const used = [...info.pods.values()].flatMap(hostPortsOf)
    return hostPortsConflict(wanted, used)
      ? ["node(s) didn't have free ports for the requested pod ports"]
      : NONE
  }
}

function nodeResourcesFit(isServed: ServedByDevices): NamedFilter {
  return {
    name: 'NodeResourcesFit',
    filter: (pod) => resourcesFit(pod, isServed),
    // What the node does not have, empty or not, no pod gives back.
    curable: (pod) => {
      const requests = [...podRequests(pod)]
      return (info) =>
        requests.every(
          ([resource, amount]) =>
            resource === 'pods' ||
            amount <= info.allocatable.get(resource) ||
            isServed(info, resource),
        )
    },
  }
}

function resourcesFit(pod: Pod, isServed: ServedByDevices): NodeFilter {
  const requests = [...podRequests(pod)].filter(([, amount]) => amount !== 0)
  return (info) => {
    let reasons: string[] | undefined
    for (const [resource, amount] of requests) {
      const free = info.allocatable.get(resource) - info.requested.get(resource)
      if (amount <= free || isServed(info, resource)) continue
      reasons ??= []
      reasons.push(resource === 'pods' ? 'Too many pods' : `Insufficient ${resource}`)
    }
    return reasons ?? NONE
  }
}

/** `ofVolumes` and `isServed` know what pods and nodes alone do not tell. */
export function filtersWith(
  ofVolumes: readonly NamedFilter[],
  isServed: ServedByDevices,
): readonly NamedFilter[] {
  return filters.flatMap((own) => {
    if (own.name === 'NodeResourcesFit') return [nodeResourcesFit(isServed)]
    return own.name === 'PodTopologySpread' ? [...ofVolumes, own] : [own]
  })
}

/** All that can be judged by pods and nodes alone. */
export const filters: readonly NamedFilter[] = [
  { name: 'NodeUnschedulable', filter: nodeUnschedulable, curable: false },
  { name: 'TaintToleration', filter: taintToleration, curable: false },
  { name: 'NodeAffinity', filter: nodeAffinity, curable: false },
  { name: 'NodePorts', filter: nodePorts, curable: true },
  nodeResourcesFit(() => false),
  {
    name: 'PodTopologySpread',
    filter: topologySpread,
    curable: () => (_info, reasons) => !reasons.includes(NO_LABEL),
  },
  {
    name: 'InterPodAffinity',
    filter: podAffinity,
    curable: () => (_info, reasons) => !reasons.includes(NO_AFFINITY),
  },
]

/** The filters that concern the pod, ready to judge nodes. */
export function prepared(
  filters: readonly NamedFilter[],
  pod: Pod,
  snapshot: Snapshot,
): readonly PreparedFilter[] {
  return [...preparing(filters, pod, snapshot)]
}

/** The same for one node: what comes after the filter that refuses it is not made ready. */
export function* preparing(
  filters: readonly NamedFilter[],
  pod: Pod,
  snapshot: Snapshot,
): Generator<PreparedFilter> {
  for (const { filter, curable } of filters) {
    const check = filter(pod, snapshot)
    if (check === undefined) continue
    yield { check, isCurable: typeof curable === 'boolean' ? () => curable : curable(pod) }
  }
}
