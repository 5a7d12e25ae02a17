import type { KindRules, Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'
import { compareQuantities } from '../../schema/quantity.ts'
import { invalidAll, validateLabelSelector } from '../../schema/validation/labels.ts'
import { dnsSubdomain, qualifiedName } from '../../schema/validation/names.ts'
import { ageColumn, column, nameColumn, tableColumns } from '../columns.ts'
import { nullWhenEmpty, sameJson } from '../workload-template.ts'

const GROUP = 'storage.k8s.io'

function immutable(
  object: Stored,
  stored: Stored,
  field: string,
  errors: FieldErrors,
  shown = field,
): void {
  if (!sameJson(object[field] ?? null, stored[field] ?? null))
    errors.invalid(shown, object[field] ?? null, 'field is immutable')
}

function validateProvisioner(provisioner: string, errors: FieldErrors, field: string): void {
  if (provisioner === '') errors.required(field)
  else
    invalidAll(errors, field, provisioner.toLowerCase(), qualifiedName(provisioner.toLowerCase()))
}

export const storageClass: KindRules = {
  group: GROUP,
  kind: 'StorageClass',
  generationOf: null,
  defaults(object) {
    object.reclaimPolicy ??= 'Delete'
    object.volumeBindingMode ??= 'Immediate'
  },
  validate(object, errors) {
    validateProvisioner(object.provisioner ?? '', errors, 'provisioner')
    const parameters: Record<string, string> = object.parameters ?? {}
    if (Object.keys(parameters).length > 512) errors.tooLong('parameters', 512)
    for (const key of Object.keys(parameters))
      if (key === '') errors.invalid('parameters', key, 'field can not be empty.')
    if (!['Delete', 'Retain'].includes(object.reclaimPolicy))
      errors.notSupported('reclaimPolicy', object.reclaimPolicy ?? '', ['Delete', 'Retain'])
    const modes = ['Immediate', 'WaitForFirstConsumer']
    if (object.volumeBindingMode === undefined) errors.required('volumeBindingMode')
    else if (!modes.includes(object.volumeBindingMode))
      errors.notSupported('volumeBindingMode', object.volumeBindingMode, modes)
  },
  validateUpdate(object, stored, errors) {
    if (!sameJson(object.parameters ?? null, stored.parameters ?? null))
      errors.forbidden('parameters', 'updates to parameters are forbidden.')
    if (object.provisioner !== stored.provisioner)
      errors.forbidden('provisioner', 'updates to provisioner are forbidden.')
    if (object.reclaimPolicy !== stored.reclaimPolicy)
      errors.forbidden('reclaimPolicy', 'updates to reclaimPolicy are forbidden.')
    immutable(object, stored, 'volumeBindingMode', errors)
  },
  columns: tableColumns('storage.k8s.io/storageclasses', {
    Provisioner: (object) => object.provisioner ?? '',
    ReclaimPolicy: (object) => object.reclaimPolicy ?? '',
    VolumeBindingMode: (object) => object.volumeBindingMode ?? '',
    AllowVolumeExpansion: (object) => object.allowVolumeExpansion === true,
  }),
}

export const volumeAttachment: KindRules = {
  group: GROUP,
  kind: 'VolumeAttachment',
  generationOf: null,
  prepareForCreate(object) {
    object.status = { attached: false }
  },
  validate(object, errors) {
    const spec: Stored = object.spec ?? {}
    if (!spec.attacher) errors.required('spec.attacher')
    else
      invalidAll(
        errors,
        'spec.attacher',
        spec.attacher,
        dnsSubdomain(String(spec.attacher).toLowerCase()),
      )
    const { persistentVolumeName, inlineVolumeSpec } = spec.source ?? {}
    if ((persistentVolumeName === undefined) === (inlineVolumeSpec === undefined)) {
      if (persistentVolumeName === undefined)
        errors.required(
          'spec.source',
          'must specify exactly one of inlineVolumeSpec and persistentVolumeName',
        )
      else
        errors.forbidden(
          'spec.source',
          'must specify exactly one of inlineVolumeSpec and persistentVolumeName',
        )
    } else if (persistentVolumeName === '')
      errors.required(
        'spec.source.persistentVolumeName',
        'must specify non empty persistentVolumeName',
      )
    else if (persistentVolumeName !== undefined)
      invalidAll(
        errors,
        'spec.source.persistentVolumeName',
        persistentVolumeName,
        dnsSubdomain(persistentVolumeName),
      )
    invalidAll(errors, 'spec.nodeName', spec.nodeName ?? '', dnsSubdomain(spec.nodeName ?? ''))
  },
  validateUpdate: (object, stored, errors) => immutable(object, stored, 'spec', errors),
  columns: [
    nameColumn,
    column(
      'Attacher',
      'string',
      'attacher indicates the name of the volume driver that MUST handle this request. This is the name returned by GetPluginName().',
      (object) => object.spec?.attacher ?? '',
    ),
    column(
      'PV',
      'string',
      'persistentVolumeName represents the name of the persistent volume to attach.',
      (object) => object.spec?.source?.persistentVolumeName ?? '',
    ),
    column(
      'Node',
      'string',
      'nodeName represents the node that the volume should be attached to.',
      (object) => object.spec?.nodeName ?? '',
    ),
    column(
      'Attached',
      'boolean',
      'attached indicates the volume is successfully attached. This field must only be set by the entity completing the attach operation, i.e. the external-attacher.',
      (object) => object.status?.attached === true,
    ),
    ageColumn,
  ],
}

const MODES = ['Ephemeral', 'Persistent']
const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType']

export const csiDriver: KindRules = {
  group: GROUP,
  kind: 'CSIDriver',
  generationOf: null,
  defaults(object) {
    const spec = (object.spec ??= {})
    spec.attachRequired ??= true
    spec.podInfoOnMount ??= false
    spec.storageCapacity ??= false
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
    if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent']
    spec.requiresRepublish ??= false
    spec.seLinuxMount ??= false
  },
  validate(object, errors) {
    const spec: Stored = object.spec ?? {}
    for (const mode of spec.volumeLifecycleModes ?? [])
      if (!MODES.includes(mode))
        errors.notSupported('spec.volumeLifecycleModes', mode, ['Ephemeral', 'Persistent'])
    if (!FS_GROUP_POLICIES.includes(spec.fsGroupPolicy))
      errors.notSupported('spec.fsGroupPolicy', spec.fsGroupPolicy ?? '', FS_GROUP_POLICIES)
    const audiences = new Set<string>()
    for (const [index, request] of (spec.tokenRequests ?? []).entries()) {
      const at = `spec.tokenRequests[${index}]`
      if (audiences.has(request.audience ?? ''))
        errors.duplicate(`${at}.audience`, request.audience ?? '')
      audiences.add(request.audience ?? '')
      if (request.expirationSeconds !== undefined && request.expirationSeconds < 600) {
        errors.invalid(
          `${at}.expirationSeconds`,
          request.expirationSeconds,
          'may not specify a duration less than 10 minutes',
        )
      }
    }
  },
  validateUpdate(object, stored, errors) {
    immutable(
      object.spec ?? {},
      stored.spec ?? {},
      'attachRequired',
      errors,
      'spec.attachedRequired',
    )
    immutable(
      object.spec ?? {},
      stored.spec ?? {},
      'volumeLifecycleModes',
      errors,
      'spec.volumeLifecycleModes',
    )
  },
  columns: tableColumns('storage.k8s.io/csidrivers', {
    AttachRequired: (object) => object.spec?.attachRequired !== false,
    PodInfoOnMount: (object) => object.spec?.podInfoOnMount === true,
    StorageCapacity: (object) => object.spec?.storageCapacity === true,
    TokenRequests: (object) =>
      (object.spec?.tokenRequests ?? []).map(({ audience = '' }: Stored) => audience).join(',') ||
      '<unset>',
    RequiresRepublish: (object) => object.spec?.requiresRepublish === true,
    Modes: (object) => (object.spec?.volumeLifecycleModes ?? []).join(',') || '<none>',
  }),
}

export const csiNode: KindRules = {
  group: GROUP,
  kind: 'CSINode',
  generationOf: null,
  canonicalize(object) {
    if (object.spec) nullWhenEmpty(object.spec, 'drivers')
  },
  validate(object, errors) {
    const names = new Set<string>()
    for (const [index, driver] of (object.spec?.drivers ?? []).entries()) {
      const at = `spec.drivers[${index}]`
      if (!driver.name) errors.required(`${at}.name`)
      else {
        if (driver.name.length > 63) errors.tooLong(`${at}.name`, 63)
        invalidAll(
          errors,
          `${at}.name`,
          driver.name,
          dnsSubdomain(String(driver.name).toLowerCase()),
        )
      }
      if (!driver.nodeID) errors.required(`${at}.nodeID`)
      if (driver.allocatable?.count < 0)
        errors.invalid(
          `${at}.allocatable.count`,
          driver.allocatable.count,
          'must be greater than or equal to 0',
        )
      if (names.has(driver.name)) errors.duplicate(`${at}.name`, driver.name)
      names.add(driver.name)
    }
  },
  columns: [
    nameColumn,
    column(
      'Drivers',
      'integer',
      'Drivers indicates the number of CSI drivers registered on the node',
      (object) => (object.spec?.drivers ?? []).length,
    ),
    ageColumn,
  ],
}

export const csiStorageCapacity: KindRules = {
  group: GROUP,
  kind: 'CSIStorageCapacity',
  generationOf: null,
  validate(object, errors) {
    invalidAll(
      errors,
      'storageClassName',
      object.storageClassName ?? '',
      dnsSubdomain(object.storageClassName ?? ''),
    )
    validateLabelSelector(object.nodeTopology, errors, 'nodeTopology')
    for (const field of ['capacity', 'maximumVolumeSize']) {
      if (object[field] !== undefined && compareQuantities(object[field], '0') < 0)
        errors.invalid(field, object[field], 'must be greater than or equal to 0')
    }
  },
  validateUpdate(object, stored, errors) {
    immutable(object, stored, 'nodeTopology', errors)
    immutable(object, stored, 'storageClassName', errors)
  },
  columns: [
    nameColumn,
    column(
      'StorageClassName',
      'string',
      'storageClassName represents the name of the StorageClass that the reported capacity applies to.',
      (object) => object.storageClassName ?? '',
    ),
    column(
      'Capacity',
      'string',
      'capacity is the value reported by the CSI driver in its GetCapacityResponse for a GetCapacityRequest with topology and parameters that match the previous fields.',
      (object) => object.capacity ?? '<unset>',
    ),
  ],
}

export const volumeAttributesClass: KindRules = {
  group: GROUP,
  kind: 'VolumeAttributesClass',
  generationOf: null,
  validate(object, errors) {
    validateProvisioner(object.driverName ?? '', errors, 'driverName')
    if (Object.keys(object.parameters ?? {}).length === 0)
      errors.required('parameters', 'must contain at least one key/value pair')
  },
  validateUpdate(object, stored, errors) {
    if (object.driverName !== stored.driverName)
      errors.forbidden('driverName', 'updates to driverName are forbidden.')
    if (!sameJson(object.parameters ?? null, stored.parameters ?? null))
      errors.forbidden('parameters', 'updates to parameters are forbidden.')
  },
  columns: [
    nameColumn,
    column('DriverName', 'string', 'Name of the CSI driver', (object) => object.driverName ?? ''),
    ageColumn,
  ],
}
