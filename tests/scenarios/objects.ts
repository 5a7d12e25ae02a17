/** Smallest valid objects; whatever a scenario sets is what it is about. */
import type {
  DaemonSet,
  Deployment,
  Pod,
  ReplicaSet,
  ReplicationController,
  Service,
  StatefulSet,
} from '@gyropilot/api'

interface Workload {
  readonly replicas?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly image?: string
  readonly annotations?: Readonly<Record<string, string>>
}

function specOf(name: string, given: Workload) {
  const labels = given.labels ?? { app: name }
  return {
    replicas: given.replicas ?? 1,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels, ...(given.annotations ? { annotations: given.annotations } : {}) },
      spec: { containers: [{ name: 'c', image: given.image ?? 'nginx:1.27' }] },
    },
  }
}

export function deployment(
  name: string,
  given: Workload & { spec?: Deployment['spec'] | object } = {},
): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: { ...specOf(name, given), ...given.spec },
  }
}

export function replicaSet(name: string, given: Workload = {}): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'default' },
    spec: specOf(name, given),
  }
}

export function statefulSet(
  name: string,
  given: Workload & { spec?: Partial<NonNullable<StatefulSet['spec']>> } = {},
): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'default' },
    spec: { serviceName: name, ...specOf(name, given), ...given.spec },
  }
}

export function daemonSet(name: string, given: Omit<Workload, 'replicas'> = {}): DaemonSet {
  const { replicas: _, ...spec } = specOf(name, given)
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default' },
    spec,
  }
}

export function replicationController(
  name: string,
  given: Workload & { spec?: object } = {},
): ReplicationController {
  const { selector, ...spec } = specOf(name, given)
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name, namespace: 'default' },
    spec: { ...spec, selector: selector.matchLabels, ...given.spec },
  }
}

export function pod(
  name: string,
  given: {
    namespace?: string
    finalizers?: readonly string[]
    labels?: Record<string, string>
  } = {},
): Pod {
  const { namespace = 'default', finalizers, labels } = given
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      ...(finalizers ? { finalizers } : {}),
      ...(labels ? { labels } : {}),
    },
    spec: { containers: [{ name: 'c', image: 'nginx:1.27' }] },
  }
}

export function service(
  name: string,
  selector: Record<string, string>,
  namespace = 'default',
): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { selector, ports: [{ port: 80 }] },
  }
}
