import type { PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import { cloneJson } from '../../registry/equality.ts'
import type { Draft, KindRules, Stored, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalDiff, internalForm } from '@gyropilot/schema/internal-form'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { SOURCES, validateVolumeSpec } from './persistent-volume-spec.ts'
import { defaultNetworkVolume } from './pod/defaults.ts'
import { deprecatedVolumeWarning } from './pod/volume-warnings.ts'
import { nodeTermWarnings } from './node-label-warnings.ts'

/** Not of Quobyte and Flocker, which pods are warned of. */
const WARNED_SOURCES = [
  'cephfs',
  'photonPersistentDisk',
  'scaleIO',
  'storageos',
  'glusterfs',
  'rbd',
] as const

const MODE_TEXT: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
}

export function accessModesText(modes: readonly string[] | undefined): string {
  return Object.keys(MODE_TEXT)
    .filter((mode) => modes?.includes(mode))
    .map((mode) => MODE_TEXT[mode])
    .join(',')
}

const sourceOf = (spec: StoredOf<PersistentVolumeSpec>): Draft =>
  Object.fromEntries(SOURCES.filter((name) => spec[name]).map((name) => [name, spec[name]]))

function validate(object: StoredOf<PersistentVolume>, errors: FieldErrors): void {
  validateVolumeSpec(object.spec ?? {}, errors, object.metadata?.name ?? '')
  validateMountOptions(object, errors)
}

const MOUNT_OPTIONS = 'volume.beta.kubernetes.io/mount-options'
const DEPRECATED_ANNOTATIONS: Readonly<Record<string, string>> = {
  'volume.beta.kubernetes.io/storage-class':
    'deprecated since v1.8; use "storageClassName" attribute instead',
  [MOUNT_OPTIONS]: 'deprecated since v1.31; use "mountOptions" attribute instead',
}

/** Of all others the annotation is refused; the field is judged by who mounts. */
const MOUNTED_WITH_OPTIONS = [
  'awsElasticBlockStore',
  'azureDisk',
  'azureFile',
  'cephfs',
  'cinder',
  'gcePersistentDisk',
  'glusterfs',
  'iscsi',
  'nfs',
  'photonPersistentDisk',
  'quobyte',
  'rbd',
  'vsphereVolume',
] as const

function validateMountOptions(
  { metadata, spec = {} }: StoredOf<PersistentVolume>,
  errors: FieldErrors,
): void {
  if (metadata?.annotations?.[MOUNT_OPTIONS] === undefined) return
  if (MOUNTED_WITH_OPTIONS.some((source) => spec[source])) return
  errors.forbidden(
    `metadata.annotations.${MOUNT_OPTIONS}`,
    'may not specify mount options for this volume type',
  )
}

/** What once was beta may be replaced by what it became. */
const STABLE_LABELS: Readonly<Record<string, string>> = {
  'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region': 'topology.kubernetes.io/region',
  'beta.kubernetes.io/os': 'kubernetes.io/os',
  'beta.kubernetes.io/arch': 'kubernetes.io/arch',
  'beta.kubernetes.io/instance-type': 'node.kubernetes.io/instance-type',
}

function isSameAffinity(
  now: StoredOf<VolumeNodeAffinity> | undefined,
  { nodeAffinity: before }: StoredOf<PersistentVolumeSpec>,
): boolean {
  const demandsOf = (affinity: StoredOf<VolumeNodeAffinity> | undefined): Stored[][] =>
    (affinity?.required?.nodeSelectorTerms ?? []).map((term) => [
      ...(term.matchExpressions ?? []),
      ...(term.matchFields ?? []),
    ])
  const renamed = cloneJson(before)
  const given = demandsOf(now)
  for (const [term, demands] of demandsOf(renamed).entries()) {
    for (const [index, demand] of demands.entries()) {
      const key = given[term]?.[index]?.key
      if (key !== undefined && STABLE_LABELS[demand.key] === key) (demand as Draft).key = key
    }
  }
  return deepEqual(now, renamed)
}

function validateUpdate(
  object: StoredOf<PersistentVolume>,
  stored: StoredOf<PersistentVolume>,
  errors: FieldErrors,
): void {
  // kube-apiserver checks the specification twice on updates, and reports twice.
  validateVolumeSpec(object.spec ?? {}, errors, object.metadata?.name ?? '')
  const now = sourceOf(object.spec ?? {})
  const before = sourceOf(stored.spec ?? {})
  // A volume that was made before its driver could grow it is given what that takes.
  if (now.csi && before.csi && !before.csi.controllerExpandSecretRef) {
    now.csi = { ...now.csi }
    delete now.csi.controllerExpandSecretRef
  }
  if (!deepEqual(now, before)) {
    const diff = internalDiff(
      internalForm(before, 'PersistentVolumeSource'),
      internalForm(now, 'PersistentVolumeSource'),
    )
    errors.forbidden(
      'spec.persistentvolumesource',
      `spec.persistentvolumesource is immutable after creation\n${diff}`,
    )
  }
  if (object.spec?.volumeMode !== stored.spec?.volumeMode)
    errors.invalid('volumeMode', object.spec?.volumeMode ?? null, 'field is immutable')
  if (stored.spec?.nodeAffinity && !isSameAffinity(object.spec?.nodeAffinity, stored.spec)) {
    errors.invalid(
      'nodeAffinity',
      object.spec?.nodeAffinity
        ? { Required: internalForm(object.spec.nodeAffinity.required, 'NodeSelector') }
        : null,
      'field is immutable, except for updating from beta label to GA',
    )
  }
  const { volumeAttributesClassName: attributesClass } = stored.spec ?? {}
  if (attributesClass !== undefined && object.spec?.volumeAttributesClassName === undefined)
    errors.forbidden(
      'spec.volumeAttributesClassName',
      'update from non-nil value to nil is forbidden',
    )
}

export const persistentVolume: KindRules<PersistentVolume> = {
  group: '',
  kind: 'PersistentVolume',
  generationOf: null,
  defaults(object) {
    object.spec ??= {}
    object.spec.persistentVolumeReclaimPolicy ||= 'Retain'
    object.spec.volumeMode ??= 'Filesystem'
    if (object.spec.hostPath) object.spec.hostPath.type ??= ''
    defaultNetworkVolume(object.spec)
    object.status ??= {}
    object.status.phase ||= 'Pending'
  },
  prepareForCreate(object, { nowMs }) {
    object.status = { phase: 'Pending', lastPhaseTransitionTime: formatTime(nowMs) }
  },
  prepareForUpdate(object, stored) {
    object.status = stored.status
  },
  validate,
  validateUpdate,
  status: {
    prepareForUpdate(object, stored, { nowMs }) {
      object.status ??= {}
      if (object.status.phase !== stored.status?.phase) {
        const since = object.status.lastPhaseTransitionTime
        if (since === undefined || since === stored.status?.lastPhaseTransitionTime)
          object.status.lastPhaseTransitionTime = formatTime(nowMs)
      } else if (
        object.status.lastPhaseTransitionTime === undefined &&
        stored.status?.lastPhaseTransitionTime !== undefined
      ) {
        object.status.lastPhaseTransitionTime = stored.status.lastPhaseTransitionTime
      }
    },
  },
  warnings(object) {
    const list: string[] = []
    const annotations = object.metadata?.annotations ?? {}
    for (const [key, why] of Object.entries(DEPRECATED_ANNOTATIONS))
      if (annotations[key] !== undefined) list.push(`metadata.annotations[${key}]: ${why}`)
    if (object.spec?.persistentVolumeReclaimPolicy === 'Recycle') {
      list.push(
        'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      )
    }
    const { nodeSelectorTerms = [] } = object.spec?.nodeAffinity?.required ?? {}
    for (const [index, term] of nodeSelectorTerms.entries())
      list.push(...nodeTermWarnings(term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`))
    for (const source of WARNED_SOURCES)
      if (object.spec?.[source] !== undefined) list.push(deprecatedVolumeWarning(source, 'spec'))
    return list
  },
  columns: [
    nameColumn,
    column(
      'Capacity',
      'string',
      "capacity is the description of the persistent volume's resources and capacity. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#capacity",
      (object) => object.spec?.capacity?.storage ?? '0',
    ),
    column(
      'Access Modes',
      'string',
      'accessModes contains all ways the volume can be mounted. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#access-modes',
      (object) => accessModesText(object.spec?.accessModes),
    ),
    column(
      'Reclaim Policy',
      'string',
      'persistentVolumeReclaimPolicy defines what happens to a persistent volume when released from its claim. Valid options are Retain (default for manually created PersistentVolumes), Delete (default for dynamically provisioned PersistentVolumes), and Recycle (deprecated). Recycle must be supported by the volume plugin underlying this PersistentVolume. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#reclaiming',
      (object) => object.spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    column(
      'Status',
      'string',
      'phase indicates if a volume is available, bound to a claim, or released by a claim. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#phase',
      (object) =>
        object.metadata?.deletionTimestamp ? 'Terminating' : (object.status?.phase ?? ''),
    ),
    column(
      'Claim',
      'string',
      'claimRef is part of a bi-directional binding between PersistentVolume and PersistentVolumeClaim. Expected to be non-nil when bound. claim.VolumeName is the authoritative bind between PV and PVC. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#binding',
      (object) =>
        object.spec?.claimRef
          ? `${object.spec.claimRef.namespace ?? ''}/${object.spec.claimRef.name ?? ''}`
          : '',
    ),
    column(
      'StorageClass',
      'string',
      'StorageClass of the pv',
      (object) =>
        object.metadata?.annotations?.['volume.beta.kubernetes.io/storage-class'] ??
        object.spec?.storageClassName ??
        '',
    ),
    column(
      'VolumeAttributesClass',
      'string',
      'VolumeAttributesClass of the pv',
      (object) => object.spec?.volumeAttributesClassName ?? '<unset>',
    ),
    column(
      'Reason',
      'string',
      'reason is a brief CamelCase string that describes any failure and is meant for machine parsing and tidy display in the CLI.',
      (object) => object.status?.reason ?? '',
    ),
    ageColumn,
    column(
      'VolumeMode',
      'string',
      'volumeMode defines if a volume is intended to be used with a formatted filesystem or to remain in raw block state. Value of Filesystem is implied when not included in spec.',
      (object) => object.spec?.volumeMode ?? '<unset>',
      1,
    ),
  ],
}
