/** Smallest valid objects of the node lifecycle controller's tests. */
import type { Lease, Node, NodeCondition, Pod, Taint } from '@gyropilot/api'
import { formatMicroTime, formatTime } from '@gyropilot/foundation'

/** 2026-01-01T00:00:00Z, the time that test clocks begin at. */
export const START_MS = Date.UTC(2026, 0, 1)

export type Status = 'True' | 'False' | 'Unknown'

export function condition(type: string, status: Status, atMs = START_MS): NodeCondition {
  const time = formatTime(atMs)
  return {
    type,
    status,
    reason: 'R',
    message: 'm',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  }
}

interface NodeOptions {
  /** Absent: the node never said. */
  readonly ready?: Status
  /** Of the Ready condition. */
  readonly heartbeatMs?: number
  readonly conditions?: readonly NodeCondition[]
  readonly createdMs?: number
  readonly zone?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly taints?: readonly Taint[]
}

export function node(name: string, options: NodeOptions = {}): Node {
  const {
    ready,
    heartbeatMs,
    conditions = [],
    createdMs = START_MS,
    zone,
    labels,
    taints,
  } = options
  const zoneLabels: Record<string, string> =
    zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone }
  const own = ready === undefined ? [] : [condition('Ready', ready, heartbeatMs)]
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      uid: `${name}-uid`,
      creationTimestamp: formatTime(createdMs),
      labels: { ...zoneLabels, ...labels },
    },
    spec: taints === undefined ? {} : { taints },
    status: { conditions: [...conditions, ...own] },
  }
}

export function lease(name: string, renewedMs: number): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-node-lease' },
    spec: { holderIdentity: name, renewTime: formatMicroTime(renewedMs) },
  }
}

export function pod(name: string, nodeName: string, ready: Status | 'absent' = 'True'): Pod {
  const conditions =
    ready === 'absent'
      ? []
      : [{ type: 'Ready', status: ready, reason: 'r', lastTransitionTime: formatTime(START_MS) }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'ns', uid: `${name}-uid` },
    spec: { containers: [{ name: 'c', image: 'i' }], nodeName },
    status: { phase: 'Running', conditions },
  } as Pod
}

export function taint(key: string, effect: Taint['effect'] = 'NoExecute'): Taint {
  return { key: `node.kubernetes.io/${key}`, effect }
}
