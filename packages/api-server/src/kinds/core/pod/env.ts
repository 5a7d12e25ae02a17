/** Environment variables and field references. */
import type {
  ConfigMapKeySelector,
  EnvFromSource,
  EnvVar,
  FileKeySelector,
  ObjectFieldSelector,
  Quantity,
  ResourceFieldSelector,
} from '@gyropilot/api'
import type { StoredOf } from '../../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { invalidAll } from '@gyropilot/schema/validation/labels'
import { compareQuantities } from '@gyropilot/api'
import {
  configMapKey,
  dnsLabel,
  dnsSubdomain,
  environmentName,
  qualifiedName,
} from '@gyropilot/schema/validation/names'
import { validateNoBacksteps } from './volume-sources.ts'

const POD_FIELDS = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'spec.hostNetwork',
  'spec.host',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
  'status.nominatedNodeName',
])
const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
const VOLUME_FIELDS = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

/** `metadata.labels['app']` */
const SUBSCRIPTED = /^(.*)\['(.*)'\]$/

function unknownLabel(version: string, path: string): string | undefined {
  if (version !== 'v1') return `unsupported pod version: ${version}`
  const [, subscripted] = SUBSCRIPTED.exec(path) ?? []
  if (subscripted === 'metadata.annotations' || subscripted === 'metadata.labels') return undefined
  if (subscripted !== undefined) return `field label does not support subscript: ${path}`
  return POD_FIELDS.has(path) ? undefined : `field label not supported: ${path}`
}

export function validateFieldRef(
  reference: StoredOf<ObjectFieldSelector>,
  kind: 'env' | 'volume',
  errors: FieldErrors,
  field: string,
): void {
  const path: string = reference.fieldPath ?? ''
  if (!reference.apiVersion) errors.required(`${field}.apiVersion`)
  else if (path === '') errors.required(`${field}.fieldPath`)
  else {
    const unknown = unknownLabel(reference.apiVersion, path)
    const subscript = SUBSCRIPTED.exec(path)
    if (unknown !== undefined)
      errors.invalid(`${field}.fieldPath`, path, `error converting fieldPath: ${unknown}`)
    else if (subscript !== null) {
      const key = subscript[2]!
      const text = subscript[1] === 'metadata.annotations' ? key.toLowerCase() : key
      invalidAll(errors, field, text, qualifiedName(text))
    } else {
      const supported = kind === 'env' ? ENV_FIELDS : VOLUME_FIELDS
      if (!supported.includes(path))
        errors.notSupported(`${field}.fieldPath`, path, supported.toSorted())
    }
  }
}

const RESOURCE_FIELDS = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]

export function validateResourceFieldRef(
  reference: StoredOf<ResourceFieldSelector>,
  volume: boolean,
  errors: FieldErrors,
  field: string,
): void {
  if (volume && !reference.containerName) errors.required(`${field}.containerName`)
  else if (!reference.resource) errors.required(`${field}.resource`)
  else if (
    !RESOURCE_FIELDS.includes(reference.resource) &&
    !/^(limits|requests)\.hugepages-/.test(reference.resource)
  ) {
    errors.notSupported(`${field}.resource`, reference.resource, RESOURCE_FIELDS)
  }
  if (reference.divisor !== undefined && compareQuantities(reference.divisor, '0') !== 0)
    validateDivisor(reference.resource ?? '', reference.divisor, errors, `${field}.divisor`)
}

/** What the message calls the resources whose amounts are bytes. */
const BYTES: Readonly<Record<string, string>> = {
  memory: 'memory',
  'ephemeral-storage': 'local ephemeral storage',
}

function validateDivisor(
  resource: string,
  divisor: Quantity,
  errors: FieldErrors,
  field: string,
): void {
  const name = /^(?:limits|requests)\.(.*)$/.exec(resource)?.[1] ?? ''
  if (name === 'cpu') {
    if (divisor !== '1m' && divisor !== '1')
      errors.invalid(
        field,
        resource,
        "only divisor's values 1m and 1 are supported with the cpu resource",
      )
    return
  }
  const noun = name.startsWith('hugepages-') ? 'hugepages' : BYTES[name]
  if (noun !== undefined && !/^1([kMGTPE]|[KMGTPE]i)?$/.test(String(divisor))) {
    errors.invalid(
      field,
      resource,
      `only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported with the ${noun} resource`,
    )
  }
}

/** A name that is left out is a bad name here. */
function validateKeyRef(
  reference: StoredOf<ConfigMapKeySelector>,
  errors: FieldErrors,
  field: string,
): void {
  const { name = '', key = '' } = reference
  invalidAll(errors, `${field}.name`, name, dnsSubdomain(name))
  if (key === '') errors.required(`${field}.key`)
  else invalidAll(errors, `${field}.key`, key, configMapKey(key))
}

function validateFileKeyRef(
  reference: StoredOf<FileKeySelector>,
  errors: FieldErrors,
  field: string,
): void {
  const { key = '', volumeName = '', path = '' } = reference
  if (key === '') errors.required(`${field}.key`)
  else invalidAll(errors, `${field}.key`, key, environmentName(key))
  if (volumeName === '') errors.required(`${field}.volumeName`)
  else invalidAll(errors, `${field}.volumeName`, volumeName, dnsLabel(volumeName))
  if (path === '') errors.required(`${field}.path`)
  else validateNoBacksteps(path, errors, `${field}.path`)
}

export function validateEnv(
  env: readonly StoredOf<EnvVar>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, variable] of (env ?? []).entries()) {
    const at = `${field}[${index}]`
    if (!variable.name) errors.required(`${at}.name`)
    else invalidAll(errors, `${at}.name`, variable.name, environmentName(variable.name))
    if (variable.valueFrom) validateValueFrom(variable, errors, `${at}.valueFrom`)
  }
}

function validateValueFrom(variable: StoredOf<EnvVar>, errors: FieldErrors, field: string): void {
  const from = variable.valueFrom ?? {}
  let sources = 0
  if (from.fieldRef) {
    sources++
    validateFieldRef(from.fieldRef, 'env', errors, `${field}.fieldRef`)
  }
  if (from.resourceFieldRef) {
    sources++
    validateResourceFieldRef(from.resourceFieldRef, false, errors, `${field}.resourceFieldRef`)
  }
  if (from.configMapKeyRef) {
    sources++
    validateKeyRef(from.configMapKeyRef, errors, `${field}.configMapKeyRef`)
  }
  if (from.secretKeyRef) {
    sources++
    validateKeyRef(from.secretKeyRef, errors, `${field}.secretKeyRef`)
  }
  if (from.fileKeyRef) {
    sources++
    validateFileKeyRef(from.fileKeyRef, errors, `${field}.fileKeyRef`)
  }
  if (sources === 0) {
    errors.invalid(
      field,
      '',
      'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`',
    )
  } else if (variable.value)
    errors.invalid(field, '', 'may not be specified when `value` is not empty')
  else if (sources > 1)
    errors.invalid(field, '', 'may not have more than one field specified at a time')
}

export function validateEnvFrom(
  list: readonly StoredOf<EnvFromSource>[] | undefined,
  errors: FieldErrors,
  field: string,
): void {
  for (const [index, source] of (list ?? []).entries()) {
    const at = `${field}[${index}]`
    if (source.prefix)
      invalidAll(errors, `${at}.prefix`, source.prefix, environmentName(source.prefix))
    let sources = 0
    for (const kind of ['configMapRef', 'secretRef'] as const) {
      if (!source[kind]) continue
      sources++
      const name: string = source[kind].name ?? ''
      if (name === '') errors.required(`${at}.${kind}.name`)
      // Checked as the beginning of a name.
      else
        invalidAll(errors, `${at}.${kind}.name`, name, dnsSubdomain(name.replace(/(.)-$/, '$1a')))
    }
    if (sources === 0)
      errors.invalid(field, '', 'must specify one of: `configMapRef` or `secretRef`')
    else if (sources > 1)
      errors.invalid(field, '', 'may not have more than one field specified at a time')
  }
}
