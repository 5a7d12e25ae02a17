/**
 * Feature gates of 1.36 at their defaults, and what becomes of fields whose gate is off: they are dropped from what is
 * written, unless the stored object has them already. Contract: docs/behaviour/api-server/defaulting-and-validation.md,
 * "Feature gates".
 */
import type { Draft, Stored } from './kind-rules.ts'

/** Gates that guard fields and are off; gates that are not named here are on. */
const OFF: ReadonlySet<string> = new Set([
  'ClusterTrustBundleProjection',
  'CrossNamespaceVolumeDataSource',
  'GenericWorkload',
  'HPAScaleToZero',
  'MaxUnavailableStatefulSet',
  'PodCertificateRequest',
  'TaintTolerationComparisonOperators',
])

export function featureEnabled(gate: string): boolean {
  return !OFF.has(gate)
}

interface GuardedField {
  readonly gate: string
  /** The kind, or `PodSpec` for pods and all that have a template of pods. */
  readonly kind: string
  /** `[]` stands for every item of a list. */
  readonly path: string
  /** Dropped only when it has this member. */
  readonly having?: string
}

const GUARDED_FIELDS: readonly GuardedField[] = [
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
    gate: 'CrossNamespaceVolumeDataSource',
    kind: 'PersistentVolumeClaim',
    path: 'spec.dataSourceRef',
    having: 'namespace',
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

/** Of a built-in kind. */
export function dropDisabledFields(
  kind: string,
  draft: Draft,
  stored: Stored | undefined,
  enabled: (gate: string) => boolean,
): void {
  for (const field of GUARDED_FIELDS) {
    const path = pathIn(kind, field)
    if (path === undefined || enabled(field.gate)) continue
    if (stored !== undefined && holdersOf(stored, path, field.having).length > 0) continue
    for (const { holder, name } of holdersOf(draft, path, field.having))
      delete (holder as Draft)[name]
  }
}

function pathIn(kind: string, field: GuardedField): string | undefined {
  if (field.kind === kind) return field.path
  const base = field.kind === 'PodSpec' ? POD_SPECS[kind] : undefined
  return base === undefined ? undefined : `${base}.${field.path}`
}

interface Holder {
  readonly holder: Stored
  readonly name: string
}

/** The objects that have the field at the end of the path. */
function holdersOf(object: Stored, path: string, having: string | undefined): Holder[] {
  const steps = path.split('.')
  const name = steps.pop()!
  let holders: (Stored | undefined)[] = [object]
  for (const step of steps) {
    const isList = step.endsWith('[]')
    const children = holders.map((holder) => holder?.[isList ? step.slice(0, -2) : step])
    holders = isList ? children.flatMap((list) => list ?? []) : children
  }
  return holders
    .filter((holder): holder is Stored => {
      const value = holder?.[name]
      return value !== undefined && value !== null && (having === undefined || value[having])
    })
    .map((holder) => ({ holder, name }))
}
