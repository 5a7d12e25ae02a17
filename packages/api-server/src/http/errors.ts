/** The catalogue of refusals. Contract: docs/behaviour/api-server/requests.md, "Status". */
import type { StatusCause } from '@gyropilot/api'
import { aggregateText } from '@gyropilot/foundation'
import { ApiError, type ResourceInfo } from '../contracts.ts'
import type { FieldError } from '@gyropilot/schema/field-errors'
import { badRequest } from '@gyropilot/schema/api-error'
import { goQuote } from '@gyropilot/schema/go-quote'

export { badRequest }

type Named = Pick<ResourceInfo, 'group' | 'resource' | 'kind'>

function qualifiedResource({ group, resource }: Pick<ResourceInfo, 'group' | 'resource'>): string {
  return group === '' ? resource : `${resource}.${group}`
}

function qualifiedKind({ group, kind }: Pick<ResourceInfo, 'group' | 'kind'>): string {
  return group === '' ? kind : `${kind}.${group}`
}

function detailsOf(
  group: string,
  kind: string,
  name: string,
): { name?: string; group?: string; kind?: string } {
  return {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    ...(kind === '' ? {} : { kind }),
  }
}

/** An error without a reason: what the real server makes of errors that nobody translated. */
export function unclassified(message: string): ApiError {
  return new ApiError(500, '', message)
}

export function internalError(message: string): ApiError {
  return new ApiError(500, 'InternalError', `Internal error occurred: ${message}`, {
    details: { causes: [{ message }] },
  })
}

/** Of a path whose segment for the namespace is empty. */
export function namespaceMissing(): ApiError {
  return badRequest('Namespace parameter required.')
}

export function foreignNamespace(): ApiError {
  return badRequest(
    'the namespace of the provided object does not match the namespace sent on the request',
  )
}

export function notFound(resource: Named, name: string): ApiError {
  return new ApiError(
    404,
    'NotFound',
    `${qualifiedResource(resource)} ${goQuote(name)} not found`,
    {
      details: detailsOf(resource.group, resource.resource, name),
    },
  )
}

export function routeNotFound(): ApiError {
  return new ApiError(404, 'NotFound', 'the server could not find the requested resource', {
    details: {},
  })
}

export function methodNotAllowed(): ApiError {
  return new ApiError(
    405,
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource',
    { details: {} },
  )
}

/** A verb that the resource does not have, asked of a route that it has for others. */
export function methodNotSupported(resource: Named, verb: string): ApiError {
  const kind = qualifiedResource(resource)
  return new ApiError(
    405,
    'MethodNotAllowed',
    `${verb} is not supported on resources of kind ${JSON.stringify(kind)}`,
    { details: detailsOf(resource.group, resource.resource, '') },
  )
}

export function alreadyExists(resource: Named, name: string, terminating: boolean): ApiError {
  const text = `${qualifiedResource(resource)} ${goQuote(name)} already exists`
  return new ApiError(
    409,
    'AlreadyExists',
    terminating ? `object is being deleted: ${text}` : text,
    {
      details: detailsOf(resource.group, resource.resource, name),
    },
  )
}

export function generateNameExhausted(resource: Named, name: string): ApiError {
  const text = `${qualifiedResource(resource)} ${goQuote(name)} already exists`
  return new ApiError(
    409,
    'AlreadyExists',
    `${text}, the server was not able to generate a unique name for the object`,
    {
      details: { ...detailsOf(resource.group, resource.resource, name), retryAfterSeconds: 1 },
    },
  )
}

export function conflict(resource: Named, name: string, why: string): ApiError {
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedResource(resource)} ${goQuote(name)}: ${why}`,
    {
      details: detailsOf(resource.group, resource.resource, name),
    },
  )
}

/** Preconditions of a delete name the Kind, not the plural. */
export function preconditionFailed(resource: Named, name: string, why: string): ApiError {
  return new ApiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${qualifiedKind(resource)} ${goQuote(name)}: ${why}`,
    {
      details: detailsOf(resource.group, resource.kind, name),
    },
  )
}

const WHY_DIFFERENT = {
  UID: 'The object might have been deleted and then recreated',
  ResourceVersion: 'The object might have been modified',
}

/** A precondition names another object, or a version that it does not have any more. */
export function preconditionMismatch(
  resource: Named,
  name: string,
  field: keyof typeof WHY_DIFFERENT,
  wanted: string,
  found: string,
): ApiError {
  const why = `the ${field} in the precondition (${wanted}) does not match the ${field} in record (${found}). ${WHY_DIFFERENT[field]}`
  return preconditionFailed(resource, name, why)
}

export const STALE =
  'the object has been modified; please apply your changes to the latest version and try again'

export function forbidden(
  resource: Pick<ResourceInfo, 'group' | 'resource'>,
  name: string,
  why: string,
): ApiError {
  const subject =
    name === '' ? qualifiedResource(resource) : `${qualifiedResource(resource)} ${goQuote(name)}`
  return new ApiError(403, 'Forbidden', `${subject} is forbidden: ${why}`, {
    details: detailsOf(resource.group, resource.resource, name),
  })
}

/** All errors in one line, equal ones once. */
export function textOfErrors(errors: readonly FieldError[]): string {
  return aggregateText(errors.map(({ field, message }) => `${field}: ${message}`))
}

/** 422 with one cause per error; the message names equal errors once. */
export function invalid(
  group: string,
  kind: string,
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const causes: StatusCause[] = errors.map(({ type, message, field }) => ({
    reason: type,
    message,
    field,
  }))
  const subject = group === '' ? kind : `${kind}.${group}`
  return new ApiError(
    422,
    'Invalid',
    `${subject} ${goQuote(name)} is invalid: ${textOfErrors(errors)}`,
    {
      details: { ...detailsOf(group, kind, name), causes },
    },
  )
}

export function tooLargeVersion(asked: bigint, current: number): ApiError {
  return new ApiError(
    504,
    'Timeout',
    `Timeout: Too large resource version: ${asked}, current: ${current}`,
    {
      details: {
        causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        retryAfterSeconds: 1,
      },
    },
  )
}

export function expired(message: string): ApiError {
  return new ApiError(410, 'Expired', message)
}

export function bodyTooLarge(limit: number): ApiError {
  return new ApiError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${limit}`)
}
