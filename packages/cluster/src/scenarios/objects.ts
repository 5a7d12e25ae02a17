/** Smallest valid objects of scenarios. */
import type {
  ConfigMap,
  CronJob,
  CronJobSpec,
  DaemonSet,
  Deployment,
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  Job,
  JobSpec,
  KubernetesObject,
  LabelSelector,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PodTemplateSpec,
  ReplicaSet,
  ReplicationController,
  Service,
  StatefulSet,
  ValidatingAdmissionPolicy,
} from '@gyropilot/api'

interface Workload {
  readonly namespace?: string
  readonly replicas?: number
  readonly image?: string
}

interface WorkloadSpec {
  readonly replicas: number
  readonly selector: LabelSelector
  readonly template: PodTemplateSpec
}

function workloadSpec(name: string, { replicas = 2, image = 'web:1' }: Workload): WorkloadSpec {
  return {
    replicas,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image, ports: [{ containerPort: 80 }] }] },
    },
  }
}

export function deployment(
  name: string,
  given: Workload & { readonly spec?: Partial<NonNullable<Deployment['spec']>> } = {},
): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: given.namespace ?? 'default' },
    spec: { ...workloadSpec(name, given), ...given.spec },
  }
}

export function replicaSet(name: string, given: Workload = {}): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: given.namespace ?? 'default' },
    spec: workloadSpec(name, given),
  }
}

export function statefulSet(
  name: string,
  given: Workload & { readonly spec?: Partial<NonNullable<StatefulSet['spec']>> } = {},
): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: given.namespace ?? 'default' },
    spec: { serviceName: name, ...workloadSpec(name, given), ...given.spec },
  }
}

export function daemonSet(
  name: string,
  given: Workload & {
    readonly nodeSelector?: Readonly<Record<string, string>>
    readonly spec?: Partial<NonNullable<DaemonSet['spec']>>
  } = {},
): DaemonSet {
  const { selector, template } = workloadSpec(name, given)
  const { nodeSelector } = given
  const spec = { ...template.spec!, ...(nodeSelector === undefined ? {} : { nodeSelector }) }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: given.namespace ?? 'default' },
    spec: { selector, template: { ...template, spec }, ...given.spec },
  }
}

export function replicationController(name: string, given: Workload = {}): ReplicationController {
  const { selector, ...spec } = workloadSpec(name, given)
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name, namespace: given.namespace ?? 'default' },
    spec: { ...spec, selector: selector.matchLabels ?? {} },
  }
}

export function job(
  name: string,
  given: {
    readonly namespace?: string
    readonly spec?: Partial<JobSpec>
    readonly annotations?: Record<string, string>
  } = {},
): Job {
  const { namespace: place = 'default', annotations } = given
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace: place },
    spec: {
      template: {
        ...(annotations === undefined ? {} : { metadata: { annotations } }),
        spec: { restartPolicy: 'Never', containers: [{ name: 'work', image: 'work:1' }] },
      },
      ...given.spec,
    },
  }
}

/** Every minute, a Job of one pod that is not tried again. */
export function cronJob(
  name: string,
  given: {
    readonly namespace?: string
    readonly spec?: Partial<CronJobSpec>
    readonly annotations?: Record<string, string>
  } = {},
): CronJob {
  const { namespace: place = 'default', annotations = {} } = given
  const { spec } = job(name, { annotations, spec: { backoffLimit: 0 } })
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: place },
    spec: { schedule: '* * * * *', jobTemplate: { spec: spec! }, ...given.spec },
  }
}

/** Half of the CPU that its pods request. */
export function autoscaler(
  name: string,
  given: {
    readonly namespace?: string
    readonly deployment: string
    readonly spec?: Partial<HorizontalPodAutoscalerSpec>
  },
): HorizontalPodAutoscaler {
  const { namespace: place = 'default', deployment: target } = given
  const halfOfRequest = { type: 'Utilization', averageUtilization: 50 } as const
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace: place },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target },
      maxReplicas: 5,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: halfOfRequest } }],
      ...given.spec,
    },
  }
}

export function pod(name: string, labels: Record<string, string>, namespace = 'default'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, labels },
    spec: { containers: [{ name: 'web', image: 'web:1', ports: [{ containerPort: 80 }] }] },
  }
}

/** Of 1Gi; of the default class unless told otherwise. */
export function claim(
  name: string,
  given: { readonly namespace?: string; readonly className?: string } = {},
): PersistentVolumeClaim {
  const { namespace: place = 'default', className = 'standard' } = given
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: place },
    spec: {
      accessModes: ['ReadWriteOnce'],
      storageClassName: className,
      resources: { requests: { storage: '1Gi' } },
    },
  }
}

/** Of no class: for claims that are bound by hand. */
export function volume(
  name: string,
  given: { readonly policy?: 'Retain' | 'Delete'; readonly storage?: string } = {},
): PersistentVolume {
  const { policy = 'Retain', storage = '1Gi' } = given
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage },
      hostPath: { path: `/tmp/${name}` },
      persistentVolumeReclaimPolicy: policy,
    },
  }
}

export function podWithClaim(name: string, claimName: string, namespace = 'default'): Pod {
  const plain = pod(name, { app: name }, namespace)
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }]
  return { ...plain, spec: { ...plain.spec!, volumes } }
}

export function podDisruptionBudget(
  name: string,
  matchLabels: Record<string, string>,
  namespace = 'default',
): PodDisruptionBudget {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace },
    spec: { minAvailable: 1, selector: { matchLabels } },
  }
}

export function service(name: string, app: string, namespace = 'default'): Service {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { selector: { app }, ports: [{ port: 80, protocol: 'TCP' }] },
  }
}

export function namespace(name: string): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

export function configMap(
  name: string,
  owners: readonly KubernetesObject[] = [],
  given: { readonly namespace?: string; readonly blocks?: boolean } = {},
): ConfigMap {
  const { namespace: place = 'default', blocks = false } = given
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: place,
      ...(owners.length === 0
        ? {}
        : {
            ownerReferences: owners.map((owner) => ({
              apiVersion: owner.apiVersion ?? '',
              kind: owner.kind ?? '',
              name: owner.metadata?.name ?? '',
              uid: owner.metadata?.uid ?? '',
              ...(blocks ? { blockOwnerDeletion: true } : {}),
            })),
          }),
    },
  }
}

/** Over Deployments, with one expression. */
export function policy(name: string, expression: string): ValidatingAdmissionPolicy {
  const rule = {
    apiGroups: ['apps'],
    apiVersions: ['v1'],
    operations: ['CREATE'],
    resources: ['deployments'],
  } as const
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression }] },
  }
}
