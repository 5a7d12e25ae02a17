/** What CSI drivers tell of themselves: CSIDriver, CSINode and CSIStorageCapacity. */
import type { TokenRequest } from '@gyropilot/api/storage-v1'
import type {
  CSIDriver,
  CSIDriverSpec,
  CSINode,
  CSINodeDriver,
  CSIStorageCapacity,
} from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { DraftOf, KindRules, Stored, StoredOf } from '../../registry/kind-rules.ts'
import { semanticallyEqual } from '../../registry/equality.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { givenValue } from '@gyropilot/schema/given-value'
import { compareQuantities } from '@gyropilot/api'
import { selectorForm } from '@gyropilot/schema/internal-form'
import { invalidAll, validateLabelSelector } from '@gyropilot/schema/validation/labels'
import { dnsSubdomain, qualifiedName } from '@gyropilot/schema/validation/names'
import { validateNonNegative } from '@gyropilot/schema/validation/numbers'
import { ageColumn, column, nameColumn, tableColumns } from '../columns.ts'
import { nodeLabelWarnings, nodeTermWarnings } from '../core/node-label-warnings.ts'
import { nullWhenEmpty } from '../workload-template.ts'

const GROUP = 'storage.k8s.io'
const MODES = ['Persistent', 'Ephemeral']
const FS_GROUP_POLICIES = ['File', 'None', 'ReadWriteOnceWithFSType']

function validateTokenRequests(
  requests: readonly StoredOf<TokenRequest>[],
  errors: FieldErrors,
): void {
  const audiences = new Set<string>()
  for (const [index, { audience = '', expirationSeconds: seconds }] of requests.entries()) {
    const at = `spec.tokenRequests[${index}]`
    if (audiences.has(audience)) {
      errors.duplicate(`${at}.audience`, audience)
      continue
    }
    audiences.add(audience)
    const problem = (detail: string): void =>
      errors.invalid(`${at}.expirationSeconds`, seconds, detail)
    if (seconds === undefined) continue
    if (seconds < 600) problem('may not specify a duration less than 10 minutes')
    if (seconds > 2 ** 32) problem('may not specify a duration larger than 2^32 seconds')
  }
}

function validateRest(spec: StoredOf<CSIDriverSpec>, errors: FieldErrors): void {
  const seconds: number | undefined = spec.nodeAllocatableUpdatePeriodSeconds
  if (seconds !== undefined && seconds < 10)
    errors.invalid(
      'spec.nodeAllocatableUpdatePeriodSeconds',
      seconds,
      'must be greater than or equal to 10 seconds',
    )
  if (spec.serviceAccountTokenInSecrets !== undefined && (spec.tokenRequests ?? []).length === 0)
    errors.invalid(
      'spec.serviceAccountTokenInSecrets',
      spec.serviceAccountTokenInSecrets,
      'serviceAccountTokenInSecrets is set but no tokenRequests are specified',
    )
}

/** Drivers start without a generation, and get one with the first change. */
function countChanges(object: DraftOf<CSIDriver>, stored: StoredOf<CSIDriver>): void {
  dropAlphaFields(object)
  if (!deepEqual(object.spec ?? null, stored.spec ?? null))
    (object.metadata ??= {}).generation = (stored.metadata?.generation ?? 0) + 1
}

/** Behind a gate that is off. */
function dropAlphaFields({ spec }: DraftOf<CSIDriver>): void {
  delete spec?.preventPodSchedulingIfMissing
}

/** Lower case is a matter of the check only: messages show what was given. */
export function validateDriverName(name: string, errors: FieldErrors, field: string): void {
  if (name === '') {
    errors.required(field)
    return
  }
  if (Buffer.byteLength(name) > 63) errors.tooLong(field, 63)
  invalidAll(errors, field, name, dnsSubdomain(name.toLowerCase()))
}

export function validateImmutable<T extends object>(
  object: T,
  stored: T,
  field: string & keyof T,
  errors: FieldErrors,
  shown: string = field,
): void {
  if (!deepEqual(object[field] ?? null, stored[field] ?? null))
    errors.invalid(shown, givenValue(object as Stored, field), 'field is immutable')
}

export const csiDriver: KindRules<CSIDriver> = {
  group: GROUP,
  kind: 'CSIDriver',
  generationOf: null,
  unconditionalUpdate: false,
  prepareForCreate: dropAlphaFields,
  prepareForUpdate: countChanges,
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
    const spec = object.spec ?? {}
    if (!FS_GROUP_POLICIES.includes(spec.fsGroupPolicy ?? ''))
      errors.notSupported('spec.fsGroupPolicy', spec.fsGroupPolicy ?? '', FS_GROUP_POLICIES)
    validateTokenRequests(spec.tokenRequests ?? [], errors)
    for (const mode of spec.volumeLifecycleModes ?? [])
      if (!MODES.includes(mode)) errors.notSupported('spec.volumeLifecycleModes', mode, MODES)
    validateRest(spec, errors)
  },
  validateUpdate(object, stored, errors) {
    validateImmutable(
      object.spec ?? {},
      stored.spec ?? {},
      'attachRequired',
      errors,
      'spec.attachedRequired',
    )
    validateImmutable(
      object.spec ?? {},
      stored.spec ?? {},
      'volumeLifecycleModes',
      errors,
      'spec.volumeLifecycleModes',
    )
  },
  warnings({ spec = {} }, stored) {
    const isUnset =
      (spec.tokenRequests ?? []).length > 0 && spec.serviceAccountTokenInSecrets === undefined
    return isUnset && !deepEqual(spec.tokenRequests, stored?.spec?.tokenRequests)
      ? [
          'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
        ]
      : []
  },
  columns: tableColumns('storage.k8s.io/csidrivers', {
    AttachRequired: (object) => object.spec?.attachRequired !== false,
    PodInfoOnMount: (object) => object.spec?.podInfoOnMount === true,
    StorageCapacity: (object) => object.spec?.storageCapacity === true,
    TokenRequests: ({ spec }) => {
      const requests = spec?.tokenRequests ?? []
      return requests.length === 0
        ? '<unset>'
        : requests.map(({ audience = '' }) => audience).join(',')
    },
    RequiresRepublish: (object) => object.spec?.requiresRepublish === true,
    Modes: (object) => (object.spec?.volumeLifecycleModes ?? []).join(',') || '<none>',
  }),
}

const NODE_ID_LIMIT = 256

function validateNodeDriver(
  driver: StoredOf<CSINodeDriver>,
  names: Set<string>,
  errors: FieldErrors,
  field: string,
): void {
  const { name = '', nodeID = '', allocatable, topologyKeys } = driver
  validateDriverName(name, errors, `${field}.name`)
  if (nodeID === '') errors.required(`${field}.nodeID`)
  if (nodeID.length > NODE_ID_LIMIT)
    errors.invalid(`${field}.nodeID`, nodeID, `must be ${NODE_ID_LIMIT} characters or less`)
  validateNonNegative(allocatable?.count, errors, `${field}.allocatable.count`)
  if (names.has(name)) errors.duplicate(`${field}.name`, name)
  names.add(name)
  const keys = new Set<string>()
  for (const key of topologyKeys ?? []) {
    if (key === '') errors.required(field)
    if (keys.has(key)) errors.duplicate(field, key)
    keys.add(key)
    invalidAll(errors, field, key, qualifiedName(key))
  }
}

function internalDriver({ name, nodeID, topologyKeys }: StoredOf<CSINodeDriver>): Stored {
  return { Name: name, NodeID: nodeID, TopologyKeys: topologyKeys ?? null, Allocatable: null }
}

export const csiNode: KindRules<CSINode> = {
  group: GROUP,
  kind: 'CSINode',
  generationOf: null,
  unconditionalUpdate: false,
  canonicalize(object) {
    if (!object.spec) return
    for (const driver of object.spec.drivers ?? []) nullWhenEmpty(driver, 'topologyKeys')
    nullWhenEmpty(object.spec, 'drivers')
  },
  validate(object, errors) {
    const names = new Set<string>()
    for (const [index, driver] of (object.spec?.drivers ?? []).entries())
      validateNodeDriver(driver, names, errors, `spec.drivers[${index}]`)
  },
  validateUpdate(object, stored, errors) {
    for (const old of stored.spec?.drivers ?? [])
      for (const now of object.spec?.drivers ?? []) {
        if (now.name !== old.name) continue
        // How much a node can take may change.
        const same = semanticallyEqual({ ...old, allocatable: null }, { ...now, allocatable: null })
        if (!same) errors.invalid('spec.drivers', internalDriver(now), 'field is immutable')
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

export const csiStorageCapacity: KindRules<CSIStorageCapacity> = {
  group: GROUP,
  kind: 'CSIStorageCapacity',
  generationOf: null,
  unconditionalUpdate: false,
  warnings: ({ nodeTopology }) => [
    ...nodeTermWarnings(nodeTopology, 'nodeTopology'),
    ...nodeLabelWarnings(nodeTopology?.matchLabels, (key) => `nodeTopology.matchLabels.${key}`),
  ],
  validate(object, errors) {
    validateLabelSelector(object.nodeTopology, errors, 'nodeTopology')
    const className: string = object.storageClassName ?? ''
    invalidAll(errors, 'storageClassName', className, dnsSubdomain(className))
    if (object.capacity !== undefined && compareQuantities(object.capacity, '0') < 0)
      errors.invalid('capacity', object.capacity, 'must be greater than or equal to 0')
  },
  validateUpdate(object, stored, errors) {
    if (!semanticallyEqual(object.nodeTopology ?? null, stored.nodeTopology ?? null))
      errors.invalid('nodeTopology', selectorForm(object.nodeTopology), 'field is immutable')
    validateImmutable(object, stored, 'storageClassName', errors)
  },
}
