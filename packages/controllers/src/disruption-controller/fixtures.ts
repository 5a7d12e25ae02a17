/** Smallest valid objects for tests of budgets. */
import { newControllerRef, resources } from '@gyropilot/api'
import type {
  DiscoveredResource,
  KubernetesObject,
  OwnerReference,
  Pod,
  PodDisruptionBudget,
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
  ReplicationController,
  ResourceType,
  StatefulSet,
} from '@gyropilot/api'
import { fakeInformers } from '@gyropilot/runtime/testing'
import { TEMPLATE, pod } from '../workload-support/fixtures.ts'
import type { PodOptions } from '../workload-support/fixtures.ts'
import type { OwnerListers } from './owner-replicas.ts'

interface BudgetOptions {
  readonly name?: string
  readonly spec?: PodDisruptionBudgetSpec
  readonly status?: PodDisruptionBudgetStatus
}

/** Of pods with `app: a`; asks for nothing unless `spec` does. */
export function budget(options: BudgetOptions = {}): PodDisruptionBudget {
  const { name = 'b', spec, status } = options
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name, namespace: 'ns', uid: `${name}-uid`, generation: 3, resourceVersion: '10' },
    spec: { selector: { matchLabels: { app: 'a' } }, ...spec },
    ...(status === undefined ? {} : { status }),
  }
}

export function replicationController(replicas: number, name = 'rc'): ReplicationController {
  return {
    apiVersion: 'v1',
    kind: 'ReplicationController',
    metadata: { name, namespace: 'ns', uid: `${name}-uid` },
    spec: { replicas, selector: { app: 'a' }, template: TEMPLATE },
  }
}

export function statefulSet(replicas: number, name = 'set'): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace: 'ns', uid: `${name}-uid` },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'a' } },
      serviceName: name,
      template: TEMPLATE,
    },
  }
}

/** Ready, unless told otherwise. */
export function podOf(
  owner: KubernetesObject | OwnerReference | undefined,
  type: ResourceType = resources.replicationcontrollers,
  options: PodOptions = {},
): Pod {
  const made = pod({ readySeconds: 60, ...options })
  if (owner === undefined) return made
  const reference = 'uid' in owner ? (owner as OwnerReference) : newControllerRef(owner, type)
  return { ...made, metadata: { ...made.metadata, ownerReferences: [reference] } }
}

export function ownerListers(objects: readonly KubernetesObject[]): OwnerListers {
  const informers = fakeInformers(objects)
  return {
    replicationControllers: informers.informer(resources.replicationcontrollers).lister,
    replicaSets: informers.informer(resources.replicasets).lister,
    deployments: informers.informer(resources.deployments).lister,
    statefulSets: informers.informer(resources.statefulsets).lister,
  }
}

/** A custom kind, with or without a scale subresource. */
export function customKind(hasScale: boolean, namespaced = true): DiscoveredResource {
  const scale = {
    name: 'scale',
    verbs: ['get'],
    kind: 'Scale',
    group: 'autoscaling',
    version: 'v1',
  }
  return {
    group: 'apps.test.io',
    version: 'v1',
    resource: 'testworkloads',
    singular: 'testworkload',
    kind: 'TestWorkload',
    namespaced,
    shortNames: [],
    categories: [],
    verbs: ['get'],
    subresources: hasScale ? [scale] : [],
  }
}

export const CUSTOM_OWNER: OwnerReference = {
  apiVersion: 'apps.test.io/v1',
  kind: 'TestWorkload',
  name: 'custom',
  uid: 'custom-uid',
  controller: true,
}
