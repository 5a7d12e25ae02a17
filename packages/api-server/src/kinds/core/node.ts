import type { Node, NodeAddress, NodeStatus, NodeSystemInfo, Quantity, Taint } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { goQuote } from '@gyropilot/schema/go-quote'
import { emptyStatus } from '@gyropilot/schema/decode'
import { emptyGiven } from '@gyropilot/schema/given-value'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { canonicalCidrWarnings, parseCidr, validateCidr } from '@gyropilot/schema/validation/ip'
import { labelValue, qualifiedName } from '@gyropilot/schema/validation/names'
import { tableColumns } from '../columns.ts'
import { validateResourceQuantity } from './pod/resources.ts'
import { TAINT_EFFECTS } from './pod/scheduling.ts'

/** The path is kube-apiserver's, although taints stand in the spec. */
function validateTaints(taints: readonly StoredOf<Taint>[] | undefined, errors: FieldErrors): void {
  const seen = new Set<string>()
  for (const [index, taint] of (taints ?? []).entries()) {
    const { key = '', value = '', effect = '', timeAdded } = taint
    const at = `metadata.taints[${index}]`
    invalidAll(errors, `${at}.key`, key, qualifiedName(key))
    const messages = labelValue(value)
    if (messages.length > 0) errors.invalid(`${at}.value`, value, messages.join(';'))
    if (effect === '') errors.required(`${at}.effect`)
    else if (!TAINT_EFFECTS.includes(effect))
      errors.notSupported(`${at}.effect`, effect, TAINT_EFFECTS)
    if (seen.has(`${effect}:${key}`))
      errors.duplicate(
        at,
        { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null },
        'taints must be unique by key and effect pair',
      )
    seen.add(`${effect}:${key}`)
  }
}

function validateAddresses(
  addresses: readonly StoredOf<NodeAddress>[] | undefined,
  errors: FieldErrors,
): void {
  const seen = new Set<string>()
  for (const [index, { type, address }] of (addresses ?? []).entries()) {
    const key = `${type}/${address}`
    if (seen.has(key))
      errors.duplicate(`status.addresses[${index}]`, { Type: type ?? '', Address: address ?? '' })
    seen.add(key)
  }
}

function validateResources(
  list: Readonly<Record<string, Quantity>> | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const name of Object.keys(list ?? {}).toSorted()) {
    validateResourceQuantity(name, list![name]!, errors, `${field}.${name}`)
  }
}

function validateCapacity(status: StoredOf<NodeStatus> | undefined, errors: FieldErrors): void {
  validateResources(status?.capacity, errors, 'status.capacity')
  validateResources(status?.allocatable, errors, 'status.allocatable')
}

/** Of whole nodes only: what kubelets write is not asked. The path is kube-apiserver's. */
function validateSwap(capacity: number | undefined, errors: FieldErrors): void {
  if (capacity !== undefined && capacity <= 0)
    errors.invalid('metadata.nodeSwapStatus.capacity', capacity, 'must be greater than zero')
}

const FEATURE_LENGTH_MAX = 253
const FEATURE = /^[A-Z][A-Za-z0-9]*(?:\/[A-Za-z0-9]+)*$/

function validateFeatures(features: readonly string[], errors: FieldErrors): void {
  for (const [index, feature] of features.entries()) {
    const at = `status.declaredFeatures[${index}]`
    const before = features[index - 1]
    if (before === feature) errors.duplicate(at, feature)
    else if (before !== undefined && before > feature)
      errors.invalid(at, feature, 'list must be sorted alphabetically')
    if (feature.length > FEATURE_LENGTH_MAX)
      errors.invalid(
        at,
        feature,
        `invalid feature name ${goQuote(feature)}: must be no more than ${FEATURE_LENGTH_MAX} characters`,
      )
    else if (!FEATURE.test(feature))
      errors.invalid(
        at,
        feature,
        `invalid feature name ${goQuote(feature)}: must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes`,
      )
  }
}

function roles(object: StoredOf<Node>): string {
  const found = new Set<string>()
  for (const [key, value] of Object.entries<string>(object.metadata?.labels ?? {})) {
    if (key.startsWith('node-role.kubernetes.io/')) {
      const role = key.slice('node-role.kubernetes.io/'.length)
      if (role !== '') found.add(role)
    } else if (key === 'kubernetes.io/role' && value !== '') found.add(value)
  }
  return found.size === 0 ? '<none>' : [...found].toSorted().join(',')
}

function statusText(object: StoredOf<Node>): string {
  const ready = (object.status?.conditions ?? []).find(({ type }) => type === 'Ready')
  const parts = [ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady']
  if (object.spec?.unschedulable === true) parts.push('SchedulingDisabled')
  return parts.join(',')
}

const address =
  (type: string) =>
  (object: StoredOf<Node>): string =>
    (object.status?.addresses ?? []).find((entry) => entry.type === type)?.address ?? '<none>'
const info =
  (field: Exclude<keyof NodeSystemInfo, 'swap'>) =>
  (object: StoredOf<Node>): string =>
    object.status?.nodeInfo?.[field] || '<unknown>'

/** The architecture stands behind it, where it is known. */
function kernelText(object: StoredOf<Node>): string {
  const architecture = object.status?.nodeInfo?.architecture ?? ''
  const kernel = info('kernelVersion')(object)
  return architecture === '' ? kernel : `${kernel} (${architecture})`
}

function validateFamilies(cidrs: readonly string[], errors: FieldErrors): void {
  const families = cidrs.map((cidr) => parseCidr(cidr)?.family)
  const none = families.indexOf(undefined)
  if (none >= 0)
    errors.internal(
      'spec.podCIDRs',
      `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${none}]: <nil> (invalid CIDR address: ${cidrs[none]})`,
    )
  if (none >= 0 || cidrs.length > 2 || families[0] === families[1])
    errors.invalid('spec.podCIDRs', cidrs, 'may specify no more than one CIDR for each IP family')
}

export const node: KindRules<Node> = {
  group: '',
  kind: 'Node',
  generationOf: null,
  defaults(object) {
    const { spec = {}, status } = object
    // The older field wins, for clients that know no other.
    if (spec.podCIDR && spec.podCIDR !== spec.podCIDRs?.[0]) spec.podCIDRs = [spec.podCIDR]
    if ((spec.podCIDRs ?? []).length > 0) spec.podCIDR = spec.podCIDRs![0]
    else delete spec.podCIDR
    if (status?.capacity && !status.allocatable) status.allocatable = { ...status.capacity }
    // Names are always written: who sends none has changed nothing, who sends an empty list has.
    for (const image of status?.images ?? [])
      image.names ??= (emptyGiven(image, 'names') ?? null) as string[]
  },
  canonicalize({ status }) {
    for (const image of status?.images ?? [])
      if (image.names !== null && !image.names?.length) image.names = null!
  },
  // Unlike all others, nodes keep the status they are created with.
  prepareForCreate(object) {
    delete object.spec?.configSource
    delete object.status?.config
    object.status ??= emptyStatus({ group: '', version: 'v1', kind: 'Node' })
  },
  prepareForUpdate(object, stored) {
    object.status = stored.status
    if (!stored.spec?.configSource) delete object.spec?.configSource
  },
  validate(object, errors) {
    validateTaints(object.spec?.taints, errors)
    validateCapacity(object.status, errors)
    validateSwap(object.status?.nodeInfo?.swap?.capacity, errors)
    validateFeatures(object.status?.declaredFeatures ?? [], errors)
    const cidrs: readonly string[] = object.spec?.podCIDRs ?? []
    for (const [index, cidr] of cidrs.entries())
      validateCidr(cidr, errors, `spec.podCIDRs[${index}]`)
    if (cidrs.length > 1) validateFamilies(cidrs, errors)
  },
  validateUpdate(object, stored, errors) {
    validateAddresses(object.status?.addresses, errors)
    const before = stored.spec ?? {}
    const now = object.spec ?? {}
    if ((before.podCIDRs ?? []).length > 0 && !deepEqual(before.podCIDRs, now.podCIDRs)) {
      errors.forbidden(
        'spec.podCIDRs',
        'node updates may not change podCIDR except from "" to valid',
      )
    }
    if (before.providerID && before.providerID !== now.providerID) {
      errors.forbidden(
        'spec.providerID',
        'node updates may not change providerID except from "" to valid',
      )
    }
    if ((before.externalID ?? '') !== (now.externalID ?? ''))
      errors.forbidden('spec.externalID', 'may not be updated')
    // Once more: an update tells what is wrong with taints twice.
    validateTaints(now.taints, errors)
  },
  status: {
    prepareForUpdate(object, stored) {
      if (!stored.status?.config) delete object.status?.config
    },
    validateUpdate({ status }, _stored, errors) {
      validateCapacity(status, errors)
      validateFeatures(status?.declaredFeatures ?? [], errors)
      validateAddresses(status?.addresses, errors)
    },
  },
  selectableFields: {
    'spec.unschedulable': (object) => String(object.spec?.unschedulable === true),
  },
  warnings(object) {
    const warnings: string[] = []
    if (object.spec?.configSource !== undefined)
      warnings.push('spec.configSource: the feature is removed')
    if (object.spec?.externalID)
      warnings.push('spec.externalID: this field is deprecated, and is unused by Kubernetes')
    for (const [index, cidr] of (object.spec?.podCIDRs ?? []).entries())
      warnings.push(...canonicalCidrWarnings(cidr, `spec.podCIDRs[${index}]`))
    return warnings
  },
  columns: tableColumns('nodes', {
    Status: statusText,
    Roles: roles,
    Version: (object) => object.status?.nodeInfo?.kubeletVersion ?? '',
    'Internal-IP': address('InternalIP'),
    'External-IP': address('ExternalIP'),
    'OS-Image': info('osImage'),
    'Kernel-Version': kernelText,
    'Container-Runtime': info('containerRuntimeVersion'),
  }),
}
