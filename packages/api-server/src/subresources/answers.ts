import { ApiError } from '../contracts.ts'
import type { SubresourceAnswer, SubresourceCall } from '../contracts.ts'
import { badRequest, namespaceMissing, notFound } from '../http/errors.ts'
import type { Stored } from '@gyropilot/schema/objects'

/** The object a subresource belongs to. Throws 400 without a namespace, and 404. */
export function parentOf(call: SubresourceCall): Stored {
  const { group, resource, namespaced } = call.resource
  if (namespaced && call.namespace === '') throw namespaceMissing()
  const stored = call.server.get(group, resource, call.namespace, call.name)
  if (stored === undefined) throw notFound(call.resource, call.name)
  return stored
}

export function created(body: unknown): SubresourceAnswer {
  return { code: 201, body }
}

export function success(code: number): SubresourceAnswer {
  return { code, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code } }
}

/** Binding and Eviction have to say twice whom they are for. */
export function checkNameInUrl(call: SubresourceCall, kind: string): void {
  const name = call.body?.['metadata']?.name
  if (name !== call.name) throw badRequest(`name in URL does not match name in ${kind} object`)
}

/** Conflicts of optimistic concurrency, which the server resolves by trying again. */
export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 409 && error.reason === 'Conflict'
}
