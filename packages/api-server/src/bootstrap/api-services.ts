/** APIService objects of the built-in groups. */
import { AUTOMANAGED_LABEL, locallyAvailable } from '../kinds/apiregistration/api-service.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { ResourceRegistry } from '../registry/resource-registry.ts'

/** Group -> priority among groups, and its versions with their priorities. */
const PRIORITIES: readonly (readonly [
  group: string,
  groupPriority: number,
  versions: Readonly<Record<string, number>>,
])[] = [
  ['', 18000, { v1: 1 }],
  ['apps', 17800, { v1: 15 }],
  ['events.k8s.io', 17750, { v1: 15 }],
  ['authentication.k8s.io', 17700, { v1: 15 }],
  ['authorization.k8s.io', 17600, { v1: 15 }],
  ['autoscaling', 17500, { v1: 15, v2: 30 }],
  ['batch', 17400, { v1: 15 }],
  ['certificates.k8s.io', 17300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  ['networking.k8s.io', 17200, { v1: 15, v1beta1: 9 }],
  ['policy', 17100, { v1: 15 }],
  ['rbac.authorization.k8s.io', 17000, { v1: 15 }],
  ['storage.k8s.io', 16800, { v1: 15, v1beta1: 9 }],
  ['admissionregistration.k8s.io', 16700, { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  ['apiextensions.k8s.io', 16700, { v1: 15 }],
  ['scheduling.k8s.io', 16600, { v1: 15, v1alpha2: 2 }],
  ['coordination.k8s.io', 16500, { v1: 15, v1beta1: 13, v1alpha2: 12 }],
  ['node.k8s.io', 16300, { v1: 15 }],
  ['discovery.k8s.io', 16200, { v1: 15 }],
  ['resource.k8s.io', 16200, { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 }],
  ['flowcontrol.apiserver.k8s.io', 16100, { v1: 21 }],
  ['internal.apiserver.k8s.io', 16000, { v1alpha1: 9 }],
  ['storagemigration.k8s.io', 15800, { v1beta1: 9 }],
]

interface BuiltInApiServices {
  readonly served: readonly Stored[]
  /** What an earlier start may have left behind that this one does not serve. */
  readonly unserved: readonly Stored[]
}

export function builtInApiServices(time: string, registry: ResourceRegistry): BuiltInApiServices {
  const served: Stored[] = []
  const unserved: Stored[] = []
  for (const service of allApiServices(time)) {
    const { group = '', version } = service['spec']
    const isServed = registry.version(group, version) !== undefined
    ;(isServed ? served : unserved).push(service)
  }
  return { served, unserved }
}

function allApiServices(time: string): Stored[] {
  return PRIORITIES.flatMap(([group, groupPriorityMinimum, versions]) =>
    Object.entries(versions).map(([version, versionPriority]) => ({
      metadata: {
        name: `${version}.${group}`,
        labels: { [AUTOMANAGED_LABEL]: 'onstart' },
      },
      spec: { ...(group === '' ? {} : { group }), version, groupPriorityMinimum, versionPriority },
      status: locallyAvailable(time),
    })),
  )
}
