import type {
  StorageClass,
  TopologySelectorTerm,
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttributesClass,
} from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm } from '@gyropilot/schema/internal-form'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain, qualifiedName } from '@gyropilot/schema/validation/names'
import { ageColumn, column, nameColumn, tableColumns, withDefaultMark } from '../columns.ts'
import { nodeLabelDeprecation } from '../core/node-label-warnings.ts'
import { defaultNetworkVolume } from '../core/pod/defaults.ts'
import { validateInlineVolumeSpec } from '../core/persistent-volume-spec.ts'
import { validateDriverName, validateImmutable } from './csi.ts'

const GROUP = 'storage.k8s.io'

function validateProvisioner(provisioner: string, errors: FieldErrors, field: string): void {
  if (provisioner === '') errors.required(field)
  else
    invalidAll(errors, field, provisioner.toLowerCase(), qualifiedName(provisioner.toLowerCase()))
}

const DEFAULT_CLASS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]
const DEFAULT_ATTRIBUTES_CLASS = ['volumeattributesclass.alpha.kubernetes.io/is-default-class']

const PARAMETERS_LIMIT = 512
const PARAMETERS_LIMIT_BYTES = 256 * 1024

function validateParameters(parameters: Record<string, string>, errors: FieldErrors): void {
  const entries = Object.entries(parameters)
  if (entries.length > PARAMETERS_LIMIT) {
    errors.tooLong('parameters', PARAMETERS_LIMIT)
    return
  }
  let total = 0
  for (const [key, value] of entries) {
    if (key === '') errors.invalid('parameters', key, 'field can not be empty.')
    total += Buffer.byteLength(key) + Buffer.byteLength(value)
  }
  if (total > PARAMETERS_LIMIT_BYTES) errors.tooLong('parameters', PARAMETERS_LIMIT_BYTES)
}

function validateTopologies(
  terms: readonly StoredOf<TopologySelectorTerm>[],
  errors: FieldErrors,
): void {
  const seen: Readonly<Record<string, readonly string[]>>[] = []
  for (const [index, term] of terms.entries()) {
    const at = `allowedTopologies[${index}].matchLabelExpressions`
    const requirements: Record<string, readonly string[]> = {}
    for (const [position, requirement] of (term.matchLabelExpressions ?? []).entries()) {
      const key = requirement.key ?? ''
      const values = requirement.values ?? []
      if (values.length === 0) errors.required(`${at}[${position}].values`)
      for (const [place, value] of values.entries())
        if (values.indexOf(value) !== place)
          errors.duplicate(`${at}[${position}].values[${place}]`, value)
      invalidAll(errors, `${at}[${position}].key`, key, qualifiedName(key))
      if (Object.hasOwn(requirements, key)) errors.duplicate(`${at}[${position}].key`, key)
      requirements[key] = [...new Set<string>(values)].toSorted()
    }
    const isEmpty = Object.keys(requirements).length === 0
    // A term without requirements is held against as many places as there may be terms, itself among them.
    const same = seen.filter((other) => deepEqual(other, requirements)).length
    for (let times = isEmpty ? terms.length + same : same; times > 0; times--)
      errors.duplicate(at, '')
    seen.push(requirements)
  }
}

export const storageClass: KindRules<StorageClass> = {
  group: GROUP,
  kind: 'StorageClass',
  generationOf: null,
  defaults(object) {
    object.reclaimPolicy ??= 'Delete'
    object.volumeBindingMode ??= 'Immediate'
  },
  validate(object, errors) {
    validateProvisioner(object.provisioner ?? '', errors, 'provisioner')
    validateParameters(object.parameters ?? {}, errors)
    const { reclaimPolicy = '', volumeBindingMode = '' } = object
    if (reclaimPolicy !== '' && !['Delete', 'Retain'].includes(reclaimPolicy))
      errors.notSupported('reclaimPolicy', reclaimPolicy, ['Delete', 'Retain'])
    const modes = ['Immediate', 'WaitForFirstConsumer']
    if (!modes.includes(volumeBindingMode))
      errors.notSupported('volumeBindingMode', volumeBindingMode, modes)
    validateTopologies(object.allowedTopologies ?? [], errors)
  },
  validateUpdate(object, stored, errors) {
    validateImmutable(object, stored, 'parameters', errors)
    if ((object.provisioner ?? '') !== stored.provisioner)
      errors.invalid('provisioner', object.provisioner ?? '', 'field is immutable')
    validateImmutable(object, stored, 'reclaimPolicy', errors)
    validateImmutable(object, stored, 'volumeBindingMode', errors)
  },
  warnings: ({ allowedTopologies = [] }) =>
    allowedTopologies.flatMap(({ matchLabelExpressions = [] }, index) =>
      matchLabelExpressions.flatMap(({ key = '' }, position) => {
        const why = nodeLabelDeprecation(key)
        if (why === undefined) return []
        return [`allowedTopologies[${index}].matchLabelExpressions[${position}].key: ${why}`]
      }),
    ),
  columns: withDefaultMark(
    DEFAULT_CLASS,
    tableColumns('storage.k8s.io/storageclasses', {
      Provisioner: (object) => object.provisioner ?? '',
      ReclaimPolicy: (object) => object.reclaimPolicy ?? 'Delete',
      VolumeBindingMode: (object) => object.volumeBindingMode ?? 'Immediate',
      AllowVolumeExpansion: (object) => object.allowVolumeExpansion === true,
    }),
  ),
}

function validateSource(source: StoredOf<VolumeAttachmentSource>, errors: FieldErrors): void {
  const { persistentVolumeName, inlineVolumeSpec } = source
  const detail = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (persistentVolumeName === undefined && inlineVolumeSpec === undefined)
    errors.required('spec.source', detail)
  else if (persistentVolumeName !== undefined && inlineVolumeSpec !== undefined)
    errors.forbidden('spec.source', detail)
  else if (persistentVolumeName === '')
    errors.required(
      'spec.source.persistentVolumeName',
      'must specify non empty persistentVolumeName',
    )
  else if (inlineVolumeSpec !== undefined)
    validateInlineVolumeSpec(inlineVolumeSpec, errors, 'spec.source.inlineVolumeSpec')
}

export const volumeAttachment: KindRules<VolumeAttachment> = {
  group: GROUP,
  kind: 'VolumeAttachment',
  generationOf: null,
  unconditionalUpdate: false,
  defaults(object) {
    const volume = object.spec?.source?.inlineVolumeSpec
    if (volume?.hostPath) volume.hostPath.type ??= ''
    if (volume) defaultNetworkVolume(volume)
  },
  prepareForCreate(object) {
    object.status = { attached: false }
  },
  validate(object, errors) {
    const spec = object.spec ?? {}
    validateDriverName(spec.attacher ?? '', errors, 'spec.attacher')
    validateSource(spec.source ?? {}, errors)
    invalidAll(errors, 'spec.nodeName', spec.nodeName ?? '', dnsSubdomain(spec.nodeName ?? ''))
    const volume: string | undefined = spec.source?.persistentVolumeName
    if (volume !== undefined)
      invalidAll(errors, 'spec.source.persistentVolumeName', volume, dnsSubdomain(volume))
  },
  validateUpdate(object, stored, errors) {
    if (deepEqual(object.spec ?? null, stored.spec ?? null)) return
    const { attacher = '', nodeName = '', source = {} } = object.spec ?? {}
    const printed = {
      Attacher: attacher,
      Source: {
        PersistentVolumeName: source.persistentVolumeName ?? null,
        InlineVolumeSpec:
          source.inlineVolumeSpec === undefined
            ? null
            : internalForm(source.inlineVolumeSpec, 'PersistentVolumeSpec'),
      },
      NodeName: nodeName,
    }
    errors.invalid('spec', printed, 'field is immutable')
  },
  status: {
    validateUpdate({ status }, _stored, errors) {
      for (const name of ['attachError', 'detachError'] as const) {
        const code: number = status?.[name]?.errorCode ?? 0
        if (code < 0)
          errors.invalid(
            `status.${name}.errorCode`,
            code,
            'must be between 0 and 2147483647, inclusive',
          )
      }
    },
  },
  columns: [
    nameColumn,
    {
      ...column(
        'Attacher',
        'string',
        'attacher indicates the name of the volume driver that MUST handle this request. This is the name returned by GetPluginName().',
        (object) => object.spec?.attacher ?? '',
      ),
      format: 'name',
    },
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

export const volumeAttributesClass: KindRules<VolumeAttributesClass> = {
  group: GROUP,
  kind: 'VolumeAttributesClass',
  generationOf: null,
  updateOrder: 'update-first',
  validate(object, errors) {
    validateProvisioner(object.driverName ?? '', errors, 'driverName')
    validateParameters(object.parameters ?? {}, errors)
    if (Object.keys(object.parameters ?? {}).length === 0)
      errors.required('parameters', 'must contain at least one key/value pair')
  },
  validateUpdate(object, stored, errors) {
    if (object.driverName !== stored.driverName)
      errors.forbidden('driverName', 'updates to driverName are forbidden.')
    if (!deepEqual(object.parameters ?? null, stored.parameters ?? null))
      errors.forbidden('parameters', 'updates to parameters are forbidden.')
  },
  columns: withDefaultMark(DEFAULT_ATTRIBUTES_CLASS, [
    nameColumn,
    column(
      'DriverName',
      'string',
      'Name of the CSI driver This field is immutable.',
      (object) => object.driverName ?? '',
    ),
    ageColumn,
  ]),
}

export { csiDriver, csiNode, csiStorageCapacity } from './csi.ts'
