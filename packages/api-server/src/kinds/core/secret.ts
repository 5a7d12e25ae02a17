import type { Secret } from '@gyropilot/api'
import type { KindRules, StoredOf } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { goJsonError } from '@gyropilot/schema/go-json-error'
import { invalidAll, sortedKeys } from '@gyropilot/schema/validation/labels'
import { configMapKey } from '@gyropilot/schema/validation/names'
import { keyPairProblem } from '@gyropilot/foundation/x509'
import { tableColumns } from '../columns.ts'
import { decodedLength, validateImmutableData } from './config-map.ts'

const LIMIT_BYTES = 1024 * 1024
const ACCOUNT = 'kubernetes.io/service-account.name'

function validateType(object: StoredOf<Secret>, errors: FieldErrors): void {
  const data = object.data ?? {}
  switch (object.type) {
    case 'kubernetes.io/service-account-token':
      if (!object.metadata?.annotations?.[ACCOUNT])
        errors.required(`metadata.annotations[${ACCOUNT}]`)
      return
    case 'kubernetes.io/dockercfg':
      return validateJsonKey(data, '.dockercfg', errors)
    case 'kubernetes.io/dockerconfigjson':
      return validateJsonKey(data, '.dockerconfigjson', errors)
    case 'kubernetes.io/basic-auth':
      if (data.username === undefined && data.password === undefined) {
        errors.required('data[username]')
        errors.required('data[password]')
      }
      return
    case 'kubernetes.io/ssh-auth':
      if (!data['ssh-privatekey']) errors.required('data[ssh-privatekey]')
      return
    case 'kubernetes.io/tls':
      for (const key of ['tls.crt', 'tls.key'])
        if (data[key] === undefined) errors.required(`data[${key}]`)
  }
}

function validateJsonKey(
  data: Readonly<Record<string, string>>,
  key: string,
  errors: FieldErrors,
): void {
  if (data[key] === undefined) {
    errors.required(`data[${key}]`)
    return
  }
  const problem = notAnObject(Buffer.from(data[key], 'base64'))
  if (problem) errors.invalid(`data[${key}]`, '<secret contents redacted>', problem)
}

/** Why Go does not read the text into a map, or undefined. `null` is a map without members. */
function notAnObject(json: Buffer): string | undefined {
  let value: unknown
  try {
    value = JSON.parse(json.toString())
  } catch {
    return goJsonError(json)
  }
  if (typeof value === 'object' && !Array.isArray(value)) return undefined
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  return `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`
}

/** What is stored as a pair of certificate and key, and is none that anything could serve with. */
function keyPairWarnings(object: StoredOf<Secret>): string[] {
  if (object.type !== 'kubernetes.io/tls') return []
  const pem = (key: string): string =>
    Buffer.from(object.data?.[key] ?? '', 'base64').toString('latin1')
  const problem = keyPairProblem(pem('tls.crt'), pem('tls.key'))
  return problem === undefined ? [] : [problem]
}

export const secret: KindRules<Secret> = {
  group: '',
  kind: 'Secret',
  generationOf: null,
  updateOrder: 'update-first',
  defaults(object) {
    object.type ||= 'Opaque'
    if (object.stringData) {
      const data: Record<string, string> = { ...object.data }
      for (const key of Object.keys(object.stringData))
        data[key] = Buffer.from(object.stringData[key]!).toString('base64')
      object.data = data
      delete object.stringData
    }
  },
  prepareForUpdate(object, stored) {
    object.type ||= stored.type
  },
  validate(object, errors) {
    let total = 0
    for (const key of sortedKeys(object.data)) {
      invalidAll(errors, `data[${key}]`, key, configMapKey(key))
      total += decodedLength(object.data![key]!)
    }
    if (total > LIMIT_BYTES) errors.tooLong('data', LIMIT_BYTES)
    validateType(object, errors)
  },
  validateUpdate(object, stored, errors) {
    if (object.type !== stored.type) errors.invalid('type', object.type, 'field is immutable')
    validateImmutableData(object, stored, ['data'], errors)
  },
  warnings: (object) => keyPairWarnings(object),
  selectableFields: { type: (object) => object.type ?? '' },
  columns: tableColumns('secrets', {
    Type: (object) => object.type ?? '',
    Data: (object) => Object.keys(object.data ?? {}).length,
  }),
}
