/** What the fields of a webhook's answer may hold, and what Go says of those that hold something else. */
import type { Draft, Stored } from '../../registry/kind-rules.ts'
import { DecodeError, jsonKind, scalarDecoders } from '@gyropilot/schema/decode-scalars'
import { UndecodableResponse } from './review-header.ts'

interface Scalar {
  readonly scalar: 'string' | 'boolean' | 'int32' | 'int64' | 'bytes'
  readonly goType: string
}

interface Struct {
  readonly struct: string
  readonly goType: string
  readonly fields: Readonly<Record<string, Type>>
}

type Type =
  | Scalar
  | Struct
  | { readonly list: Type; readonly goType: string }
  | { readonly map: Type; readonly goType: string }

const STRING: Scalar = { scalar: 'string', goType: 'string' }
const BOOL: Scalar = { scalar: 'boolean', goType: 'bool' }
const UID: Scalar = { scalar: 'string', goType: 'types.UID' }
const INT32: Scalar = { scalar: 'int32', goType: 'int32' }

function named(goType: string): Scalar {
  return { scalar: 'string', goType }
}

function struct(goType: string, fields: Struct['fields']): Struct {
  return { struct: goType.slice(goType.indexOf('.') + 1), goType, fields }
}

const CAUSE = struct('v1.StatusCause', {
  reason: named('v1.CauseType'),
  message: STRING,
  field: STRING,
})

const STATUS = struct('v1.Status', {
  kind: STRING,
  apiVersion: STRING,
  metadata: struct('v1.ListMeta', {
    selfLink: STRING,
    resourceVersion: STRING,
    continue: STRING,
    remainingItemCount: { scalar: 'int64', goType: 'int64' },
  }),
  status: STRING,
  message: STRING,
  reason: named('v1.StatusReason'),
  details: struct('v1.StatusDetails', {
    name: STRING,
    group: STRING,
    kind: STRING,
    uid: UID,
    causes: { list: CAUSE, goType: '[]v1.StatusCause' },
    retryAfterSeconds: INT32,
  }),
  code: INT32,
})

/** Of the question, which need not come back, its name is looked at and no more. */
function reviewIn(version: string): Struct {
  return struct(`${version}.AdmissionReview`, {
    request: struct(`${version}.AdmissionRequest`, {
      uid: UID,
      name: STRING,
      namespace: STRING,
      operation: named(`${version}.Operation`),
      dryRun: BOOL,
    }),
    response: struct(`${version}.AdmissionResponse`, {
      uid: UID,
      allowed: BOOL,
      status: STATUS,
      patch: { scalar: 'bytes', goType: '[]uint8' },
      patchType: named(`${version}.PatchType`),
      auditAnnotations: { map: STRING, goType: 'map[string]string' },
      warnings: { list: STRING, goType: '[]string' },
    }),
  })
}

/** The review with fields that have values of their types; null is no value. Throws UndecodableResponse. */
export function typedReview(review: Stored, version: string): Stored {
  return structOf(review, reviewIn(version), '') as Stored
}

function decoded(value: unknown, type: Type, owner: string, path: string): unknown {
  const refuse = (wrong: unknown, goType = type.goType): UndecodableResponse =>
    mistyped(wrong, goType, owner, path)
  if ('scalar' in type) {
    try {
      return scalarDecoders[type.scalar]!(value, (wrong, goType) =>
        mistyped(wrong, goType ?? type.goType, owner, path),
      )
    } catch (error) {
      if (error instanceof DecodeError && !(error instanceof UndecodableResponse))
        throw new UndecodableResponse(error.message)
      throw error
    }
  }
  if ('list' in type) {
    if (!Array.isArray(value)) throw refuse(value)
    return value.map((item: unknown) =>
      item === null ? emptyOf(type.list) : decoded(item, type.list, owner, path),
    )
  }
  if (typeof value !== 'object' || Array.isArray(value)) throw refuse(value)
  if ('struct' in type) return structOf(value as Stored, type, path)
  const entries = Object.entries(value as Stored)
  return Object.fromEntries(
    entries.map(([key, item]) => [key, item === null ? '' : decoded(item, type.map, owner, path)]),
  )
}

function structOf(value: Stored, { struct: owner, fields }: Struct, path: string): Draft {
  const made: Draft = {}
  for (const [key, item] of Object.entries(value)) {
    const type = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (type === undefined || item === null) continue
    made[key] = decoded(item, type, owner, path === '' ? key : `${path}.${key}`)
  }
  return made
}

function emptyOf(type: Type): unknown {
  return 'scalar' in type ? '' : {}
}

function mistyped(
  value: unknown,
  goType: string,
  owner: string,
  path: string,
): UndecodableResponse {
  const integerWanted = goType === 'int32' || goType === 'int64'
  return new UndecodableResponse(
    `json: cannot unmarshal ${jsonKind(value, integerWanted)} into Go struct field ${owner}.${path} of type ${goType}`,
  )
}
