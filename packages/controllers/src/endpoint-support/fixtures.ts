/** Smallest valid objects for tests of controllers that write endpoints. */
import type {
  Container,
  EndpointSlice,
  Node,
  NodeCondition,
  ObjectMeta,
  Pod,
  Service,
  ServiceSpec,
} from '@gyropilot/api'

export const CREATED = '2026-01-01T00:00:00Z'

export interface ServiceOptions {
  readonly name?: string
  readonly uid?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly deleting?: boolean
  readonly spec?: ServiceSpec
}

/** Selects `app: a`, has one port `http` 80 to 8080, and an IPv4 cluster IP. */
export function service(options: ServiceOptions = {}): Service {
  const { name = 'svc', labels, annotations, deleting = false, spec } = options
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace: 'ns',
      uid: options.uid ?? `${name}-uid`,
      resourceVersion: '1',
      creationTimestamp: CREATED,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      ...(deleting ? { deletionTimestamp: CREATED } : {}),
    },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      ipFamilies: ['IPv4'],
      selector: { app: 'a' },
      ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
      ...spec,
    },
  }
}

export interface PodOptions {
  readonly name?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly uid?: string
  readonly resourceVersion?: string
  readonly ips?: readonly string[]
  /** Default: true. */
  readonly ready?: boolean
  readonly readySince?: string
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown'
  readonly node?: string
  readonly deleting?: boolean
  readonly hostname?: string
  readonly subdomain?: string
  readonly containers?: readonly Container[]
  readonly initContainers?: readonly Container[]
}

/** Ready on `node-a`, at 10.9.0.1. */
export function pod(options: PodOptions = {}): Pod {
  const { name = 'pod', ips = ['10.9.0.1'], ready = true, node = 'node-a' } = options
  const { hostname, subdomain, initContainers } = options
  const metadata: ObjectMeta = {
    name,
    namespace: 'ns',
    uid: options.uid ?? `${name}-uid`,
    resourceVersion: options.resourceVersion ?? '1',
    labels: options.labels ?? { app: 'a' },
    ...(options.deleting ? { deletionTimestamp: CREATED } : {}),
  }
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    spec: {
      containers: options.containers ?? [{ name: 'c', image: 'img:1' }],
      ...(initContainers === undefined ? {} : { initContainers }),
      ...(node === '' ? {} : { nodeName: node }),
      ...(hostname === undefined ? {} : { hostname }),
      ...(subdomain === undefined ? {} : { subdomain }),
    },
    status: {
      phase: options.phase ?? 'Running',
      ...(ips.length === 0 ? {} : { podIP: ips[0]!, podIPs: ips.map((ip) => ({ ip })) }),
      conditions: [
        {
          type: 'Ready',
          status: ready ? 'True' : 'False',
          ...(options.readySince === undefined ? {} : { lastTransitionTime: options.readySince }),
        },
      ],
    },
  }
}

/** `pod-0000`, `pod-0001` ... each with an address of its own; `options` may depend on the index. */
export function pods(
  count: number,
  options: (index: number) => PodOptions = () => ({}),
): readonly Pod[] {
  return Array.from({ length: count }, (_, index) =>
    pod({
      name: `pod-${String(index).padStart(4, '0')}`,
      ips: [`10.9.${index >> 8}.${index & 255}`],
      ...options(index),
    }),
  )
}

interface NodeOptions {
  readonly name?: string
  readonly zone?: string
  readonly cpu?: string
  readonly ready?: boolean
  readonly labels?: Readonly<Record<string, string>>
}

export function node(options: NodeOptions = {}): Node {
  const { name = 'node-a', zone, cpu, ready = true, labels } = options
  const condition: NodeCondition = { type: 'Ready', status: ready ? 'True' : 'False' }
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        ...(zone === undefined ? {} : { 'topology.kubernetes.io/zone': zone }),
        ...labels,
      },
    },
    status: {
      conditions: [condition],
      ...(cpu === undefined ? {} : { allocatable: { cpu } }),
    },
  }
}

export interface SliceOptions {
  readonly name?: string
  readonly uid?: string
  readonly generation?: number
  readonly resourceVersion?: string
  readonly service?: string
  readonly manager?: string
  readonly deleting?: boolean
}

/** Without ports and endpoints, by the hand of the EndpointSlice controller. */
export function slice(options: SliceOptions = {}): EndpointSlice {
  const { name = 'svc-1', service: serviceName = 'svc', generation = 1 } = options
  const manager = options.manager ?? 'endpointslice-controller.k8s.io'
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name,
      namespace: 'ns',
      uid: options.uid ?? `${name}-uid`,
      generation,
      ...(options.resourceVersion && { resourceVersion: options.resourceVersion }),
      labels: {
        ...(serviceName === '' ? {} : { 'kubernetes.io/service-name': serviceName }),
        'endpointslice.kubernetes.io/managed-by': manager,
      },
      ...(options.deleting ? { deletionTimestamp: CREATED } : {}),
    },
    addressType: 'IPv4',
    endpoints: [],
    ports: [],
  }
}
