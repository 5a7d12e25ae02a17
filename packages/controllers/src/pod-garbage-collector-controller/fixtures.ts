/** Smallest valid objects of the pod garbage collector's tests. */
import type { Node, Pod, PodStatus } from '@gyropilot/api'

/** 2026-01-01T00:00:00Z, the time that test clocks begin at. */
const START_MS = Date.UTC(2026, 0, 1)

export interface PodOptions {
  readonly namespace?: string
  /** Empty: the field is absent. */
  readonly phase?: string
  readonly node?: string
  readonly ageSeconds?: number
  readonly terminating?: boolean
  readonly generation?: number
  readonly status?: Partial<PodStatus>
}

export function pod(name: string, options: PodOptions = {}): Pod {
  const { namespace = 'ns', phase = 'Running', node, ageSeconds = 60, generation = 1 } = options
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid: `${name}-uid`,
      generation,
      creationTimestamp: timeAt(START_MS - ageSeconds * 1000),
      ...(options.terminating ? { deletionTimestamp: timeAt(START_MS) } : {}),
    },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      ...(node === undefined ? {} : { nodeName: node }),
    },
    status: { ...(phase === '' ? {} : { phase }), ...options.status },
  } as Pod
}

export interface NodeOptions {
  readonly ready?: 'True' | 'False' | 'Unknown' | 'absent'
  readonly taints?: readonly string[]
}

export function node(name: string, { ready = 'True', taints = [] }: NodeOptions = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: `${name}-uid` },
    spec: { taints: taints.map((key) => ({ key, effect: 'NoExecute' })) },
    status: { conditions: ready === 'absent' ? [] : [{ type: 'Ready', status: ready }] },
  } as Node
}

function timeAt(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
