import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  Quantity,
  TypedLocalObjectReference,
} from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { DraftOf, KindRules, StoredOf } from '../../registry/kind-rules.ts'
import { copyGiven, givenValue } from '@gyropilot/schema/given-value'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalDiff, internalForm, storedForm } from '@gyropilot/schema/internal-form'
import { compareQuantities } from '@gyropilot/api'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { validateClaimStatus } from './claim-status.ts'
import { claimSpecWarnings, validateClaimSpec } from './persistent-volume-claim-spec.ts'
import { keep } from '../../registry/kept-field.ts'
import { accessModesText } from './persistent-volume.ts'

const IMMUTABLE =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims'
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'

export function defaultClaim(object: DraftOf<PersistentVolumeClaim>): void {
  object.spec ??= {}
  object.spec.volumeMode ??= 'Filesystem'
  object.status ??= {}
  object.status.phase ||= 'Pending'
}

/** A dataSource of a kind that was never meant for it is dropped; of the two fields, each fills the other one. */
function mirrorDataSource(object: DraftOf<PersistentVolumeClaim>): void {
  const spec = object.spec ?? {}
  if (spec.dataSource && !spec.dataSourceRef && !isOldSource(spec.dataSource))
    delete spec.dataSource
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = { ...spec.dataSource }
  else if (spec.dataSourceRef && !spec.dataSource && !spec.dataSourceRef.namespace) {
    const { namespace: _namespace, ...source } = spec.dataSourceRef
    spec.dataSource = source
  }
}

function isOldSource({ kind, apiGroup }: DraftOf<TypedLocalObjectReference>): boolean {
  return (
    (kind === 'PersistentVolumeClaim' && !apiGroup) ||
    (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io')
  )
}

/** Of what a bound claim asks for, the size alone may change. */
function keepSize(
  { resources }: DraftOf<PersistentVolumeClaimSpec>,
  size: Quantity | undefined,
): void {
  if (resources && size !== undefined && givenValue(resources, 'requests') !== null)
    resources.requests = { ...resources.requests, storage: size }
}

function validateUpdate(
  object: StoredOf<PersistentVolumeClaim>,
  stored: StoredOf<PersistentVolumeClaim>,
  errors: FieldErrors,
): void {
  const now: DraftOf<PersistentVolumeClaimSpec> = copyGiven(object.spec ?? {})
  const before: DraftOf<PersistentVolumeClaimSpec> = { ...stored.spec }
  const size = now.resources?.requests?.storage
  const oldSize = before.resources?.requests?.storage
  // Messages show the volume as it is now.
  if (!before.volumeName) keep(before, now, 'volumeName')
  const annotated: string | undefined = stored.metadata?.annotations?.[CLASS_ANNOTATION]
  const renamed = object.metadata?.annotations?.[CLASS_ANNOTATION]
  const takesClass =
    before.storageClassName === undefined &&
    (annotated === undefined || annotated === now.storageClassName)
  if (takesClass) delete now.storageClassName
  // The field may take the place of the annotation.
  const isMoved = takesClass && annotated !== undefined && renamed === undefined
  if (!isMoved && (renamed ?? '') !== (annotated ?? ''))
    errors.invalid(`metadata.annotations.${CLASS_ANNOTATION}`, renamed ?? '', 'field is immutable')
  const bound = stored.status?.phase === 'Bound'
  if (bound) {
    keepSize(now, oldSize)
    keep(now, before, 'volumeAttributesClassName')
  }
  if (!deepEqual(now, before)) {
    const diff = internalDiff(
      storedForm(before, 'PersistentVolumeClaimSpec'),
      internalForm(now, 'PersistentVolumeClaimSpec'),
    )
    errors.forbidden('spec', `${IMMUTABLE}\n${diff}`)
  }
  // A claim whose growth failed may shrink again, down to what it has. Nothing counts as zero.
  const capacity = stored.status?.capacity?.storage ?? '0'
  if (
    compareQuantities(size ?? '0', oldSize ?? '0') < 0 &&
    compareQuantities(size ?? '0', capacity) <= 0
  ) {
    errors.forbidden(
      'spec.resources.requests.storage',
      'field can not be less than status.capacity',
    )
  }
  if (object.spec?.volumeMode !== before.volumeMode)
    errors.invalid('volumeMode', object.spec?.volumeMode ?? null, 'field is immutable')
  refuseClassRemoval(object, stored, errors)
}

/** A volume that has a class of attributes may get another one, but cannot go back to none. */
function refuseClassRemoval(
  object: StoredOf<PersistentVolumeClaim>,
  stored: StoredOf<PersistentVolumeClaim>,
  errors: FieldErrors,
): void {
  const wanted = object.spec?.volumeAttributesClassName
  if (wanted || wanted === stored.spec?.volumeAttributesClassName) return
  if (stored.status?.currentVolumeAttributesClassName === undefined) return
  errors.forbidden(
    'spec.volumeAttributesClassName',
    `update to ${wanted === undefined ? 'nil' : 'empty string'} is forbidden when status.currentVolumeAttributesClassName is not nil`,
  )
}

const claimClass = (object: StoredOf<PersistentVolumeClaim>): string =>
  object.metadata?.annotations?.[CLASS_ANNOTATION] ?? object.spec?.storageClassName ?? ''

export const persistentVolumeClaim: KindRules<PersistentVolumeClaim> = {
  group: '',
  kind: 'PersistentVolumeClaim',
  generationOf: null,
  defaults: defaultClaim,
  prepareForCreate(object) {
    object.status = {}
    mirrorDataSource(object)
  },
  canonicalize: defaultClaim,
  prepareForUpdate(object, stored) {
    object.status = stored.status
    mirrorDataSource(object)
  },
  validate: (object, errors) => validateClaimSpec(object.spec ?? {}, errors, 'spec'),
  validateUpdate,
  status: { validateUpdate: (object, _stored, errors) => validateClaimStatus(object, errors) },
  warnings: (object) => [
    ...(object.metadata?.annotations?.[CLASS_ANNOTATION] === undefined
      ? []
      : [
          `metadata.annotations[${CLASS_ANNOTATION}]: deprecated since v1.8; use "storageClassName" attribute instead`,
        ]),
    ...claimSpecWarnings(object.spec, 'spec'),
  ],
  columns: [
    nameColumn,
    column(
      'Status',
      'string',
      'phase represents the current phase of PersistentVolumeClaim.',
      (object) =>
        object.metadata?.deletionTimestamp ? 'Terminating' : (object.status?.phase ?? ''),
    ),
    column(
      'Volume',
      'string',
      'volumeName is the binding reference to the PersistentVolume backing this claim.',
      (object) => object.spec?.volumeName ?? '',
    ),
    column(
      'Capacity',
      'string',
      'capacity represents the actual resources of the underlying volume.',
      (object) => (object.spec?.volumeName ? (object.status?.capacity?.storage ?? '0') : ''),
    ),
    column(
      'Access Modes',
      'string',
      'accessModes contains the actual access modes the volume backing the PVC has. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#access-modes-1',
      (object) => (object.spec?.volumeName ? accessModesText(object.status?.accessModes) : ''),
    ),
    column('StorageClass', 'string', 'StorageClass of the pvc', claimClass),
    column(
      'VolumeAttributesClass',
      'string',
      'VolumeAttributesClass of the pvc',
      (object) => object.spec?.volumeAttributesClassName ?? '<unset>',
    ),
    ageColumn,
    column(
      'VolumeMode',
      'string',
      'volumeMode defines what type of volume is required by the claim. Value of Filesystem is implied when not included in claim spec.',
      (object) => object.spec?.volumeMode ?? '<unset>',
      1,
    ),
  ],
}
