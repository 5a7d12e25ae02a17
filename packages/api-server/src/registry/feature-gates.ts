/**
 * Feature gates of 1.36 at their defaults, and what becomes of fields whose gate is off: they are dropped from what is
 * written, unless the stored object has them already. Contract: docs/behaviour/api-server/defaulting-and-validation.md,
 * "Feature gates".
 */
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { KindRules } from './kind-rules.ts'
import type { ResourceRegistry } from './resource-registry.ts'

/** Gates that guard fields or kinds and are off; gates that are not named here are on. */
const OFF: ReadonlySet<string> = new Set([
  'ClusterTrustBundle',
  'ClusterTrustBundleProjection',
  'ContainerStopSignals',
  'CoordinatedLeaderElection',
  'CrossNamespaceVolumeDataSource',
  'DRADeviceTaintRules',
  'DRANodeAllocatableResources',
  'DRAResourcePoolStatus',
  'DRAWorkloadResourceClaims',
  'GenericWorkload',
  'HPAScaleToZero',
  'ImageVolumeWithDigest',
  'MaxUnavailableStatefulSet',
  'PodCertificateRequest',
  'StorageVersionAPI',
  'StorageVersionMigrator',
  'TaintTolerationComparisonOperators',
  'TopologyAwareWorkloadScheduling',
  'WorkloadAwarePreemption',
  'WorkloadWithJob',
])

export function featureEnabled(gate: string): boolean {
  return !OFF.has(gate)
}

/** Leaders are elected where candidates are served, whatever the gate's default. */
export function gateEnabled(gate: string, registry: ResourceRegistry): boolean {
  const elects =
    gate === 'CoordinatedLeaderElection' &&
    registry.byKind('coordination.k8s.io', 'v1beta1', 'LeaseCandidate') !== undefined
  return elects || featureEnabled(gate)
}

/** The rules of a kind as the gates are. */
export function gatedRules(
  rules: KindRules | undefined,
  enabled: (gate: string) => boolean,
): KindRules | undefined {
  const changes = Object.entries(rules?.withGates ?? {}).filter(([gate]) => enabled(gate))
  if (rules === undefined || changes.length === 0) return rules
  return Object.assign({ ...rules }, ...changes.map(([, change]) => change))
}

interface GuardedField {
  readonly gate: string
  /** The kind, or `PodSpec` for pods and all that have a template of pods. */
  readonly kind: string
  /** `[]` stands for every item of a list. */
  readonly path: string
  /** Dropped only when it has this member. */
  readonly having?: string
  /** Of what it has, only that member goes; all of it when nothing else is in it. */
  readonly memberOnly?: true
  /** What is stored keeps it, with that member or without. */
  readonly keptWhole?: true
}

/** What is said of a group of pods, in a PodGroup and in the templates of a Workload. */
const GROUP_FIELDS: readonly (readonly [gate: string, field: string])[] = [
  ['TopologyAwareWorkloadScheduling', 'schedulingConstraints'],
  ['DRAWorkloadResourceClaims', 'resourceClaims'],
  ['WorkloadAwarePreemption', 'disruptionMode'],
  ['WorkloadAwarePreemption', 'priorityClassName'],
  ['WorkloadAwarePreemption', 'priority'],
]

const GUARDED_FIELDS: readonly GuardedField[] = [
  ...GROUP_FIELDS.flatMap(([gate, field]) => [
    { gate, kind: 'PodGroup', path: `spec.${field}` },
    { gate, kind: 'Workload', path: `spec.podGroupTemplates[].${field}` },
  ]),
  { gate: 'DRAWorkloadResourceClaims', kind: 'PodGroup', path: 'status.resourceClaimStatuses' },
  { gate: 'GenericWorkload', kind: 'PodSpec', path: 'schedulingGroup' },
  {
    gate: 'ClusterTrustBundleProjection',
    kind: 'PodSpec',
    path: 'volumes[].projected.sources[].clusterTrustBundle',
  },
  {
    gate: 'PodCertificateRequest',
    kind: 'PodSpec',
    path: 'volumes[].projected.sources[].podCertificate',
  },
  {
    gate: 'MaxUnavailableStatefulSet',
    kind: 'StatefulSet',
    path: 'spec.updateStrategy.rollingUpdate.maxUnavailable',
  },
  {
    gate: 'DRANodeAllocatableResources',
    kind: 'Pod',
    path: 'status.nodeAllocatableResourceClaimStatuses',
  },
  ...(['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const).map(
    (list) => ({
      gate: 'ImageVolumeWithDigest',
      kind: 'Pod',
      path: `status.${list}[].volumeMounts[].volumeStatus`,
    }),
  ),
  { gate: 'CoordinatedLeaderElection', kind: 'Lease', path: 'spec.strategy' },
  { gate: 'CoordinatedLeaderElection', kind: 'Lease', path: 'spec.preferredHolder' },
  ...(['containers', 'initContainers', 'ephemeralContainers'] as const).map((list) => ({
    gate: 'ContainerStopSignals',
    kind: 'PodSpec',
    path: `${list}[].lifecycle`,
    having: 'stopSignal',
    memberOnly: true as const,
  })),
  {
    gate: 'CrossNamespaceVolumeDataSource',
    kind: 'PersistentVolumeClaim',
    path: 'spec.dataSourceRef',
    having: 'namespace',
    keptWhole: true,
  },
]

/** Where the PodSpec stands in the kinds that have one. */
const POD_SPECS: Readonly<Record<string, string>> = {
  Pod: 'spec',
  PodTemplate: 'template.spec',
  CronJob: 'spec.jobTemplate.spec.template.spec',
  DaemonSet: 'spec.template.spec',
  Deployment: 'spec.template.spec',
  Job: 'spec.template.spec',
  ReplicaSet: 'spec.template.spec',
  ReplicationController: 'spec.template.spec',
  StatefulSet: 'spec.template.spec',
}

interface Place {
  readonly gate: string
  readonly steps: readonly string[]
  readonly having: string | undefined
  readonly memberOnly: boolean
  readonly keptWhole: boolean
}

const places = new Map<string, readonly Place[]>()

/** Of a built-in kind. */
export function dropDisabledFields(
  kind: string,
  draft: Draft,
  stored: Stored | undefined,
  enabled: (gate: string) => boolean,
): void {
  for (const place of placesIn(kind)) {
    // Hardly ever does anybody use one.
    if (enabled(place.gate) || !isUsed(draft, place)) continue
    const known = place.keptWhole ? { ...place, having: undefined } : place
    if (stored === undefined || !isUsed(stored, known))
      visitHolders(draft, place, (holder, field) => drop(holder as Draft, field, place))
  }
}

function drop(holder: Draft, field: string, { memberOnly, having }: Place): void {
  if (memberOnly && having !== undefined) {
    delete holder[field][having]
    if (Object.keys(holder[field]).length > 0) return
  }
  delete holder[field]
}

function placesIn(kind: string): readonly Place[] {
  let known = places.get(kind)
  if (known === undefined) {
    known = GUARDED_FIELDS.flatMap((field) => {
      const path = pathIn(kind, field)
      const { gate, having, memberOnly = false, keptWhole = false } = field
      const steps = path?.split('.')
      return steps === undefined ? [] : [{ gate, steps, having, memberOnly, keptWhole }]
    })
    places.set(kind, known)
  }
  return known
}

function pathIn(kind: string, field: GuardedField): string | undefined {
  if (field.kind === kind) return field.path
  const base = field.kind === 'PodSpec' ? POD_SPECS[kind] : undefined
  return base === undefined ? undefined : `${base}.${field.path}`
}

function isUsed(object: Stored, place: Place): boolean {
  let found = false
  visitHolders(object, place, () => (found = true))
  return found
}

/** Calls back with every object that has the field at the end of the path. */
function visitHolders(
  value: Stored | null | undefined,
  place: Place,
  visit: (holder: Stored, field: string) => void,
  depth = 0,
): void {
  if (value === undefined || value === null) return
  const { steps } = place
  const step = steps[depth]!
  if (depth === steps.length - 1) {
    const found = value[step]
    if (found !== undefined && found !== null && hasMember(found, place)) visit(value, step)
  } else if (step.endsWith('[]'))
    for (const item of value[step.slice(0, -2)] ?? []) visitHolders(item, place, visit, depth + 1)
  else visitHolders(value[step], place, visit, depth + 1)
}

/** A member that goes alone counts where it is empty too. */
function hasMember(found: Stored, { having, memberOnly }: Place): boolean {
  if (having === undefined) return true
  return memberOnly ? (found[having] ?? undefined) !== undefined : Boolean(found[having])
}
