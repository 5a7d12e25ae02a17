/** Smallest valid objects for tests of nodes and scheduling. */
import type { Node, Pod } from '../index.ts'

export interface PodGiven {
  readonly name?: string
  readonly namespace?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly spec?: Partial<NonNullable<Pod['spec']>>
  readonly status?: Pod['status']
  readonly metadata?: Partial<NonNullable<Pod['metadata']>>
}

export function pod(given: PodGiven = {}): Pod {
  const { name = 'p', namespace = 'default', labels, annotations } = given
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid: `uid-${name}`,
      generation: 1,
      resourceVersion: '1',
      labels,
      annotations,
      ...given.metadata,
    },
    spec: {
      containers: [{ name: 'c', image: 'nginx:1.27' }],
      restartPolicy: 'Always',
      ...given.spec,
    },
    status: given.status ?? { phase: 'Pending' },
  }
}

export interface NodeGiven {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly allocatable?: Readonly<Record<string, string>>
  readonly spec?: Node['spec']
}

export function node(given: NodeGiven = {}): Node {
  const { name = 'n1', labels, allocatable = { cpu: '2', memory: '4Gi', pods: '110' } } = given
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: given.spec ?? {},
    status: { allocatable },
  }
}
