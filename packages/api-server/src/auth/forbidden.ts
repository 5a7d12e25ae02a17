import { ApiError } from '../contracts.ts'
import type { RequestAttributes } from '../contracts.ts'

const NO_SNIFFING = { 'x-content-type-options': 'nosniff' }

/** The 403 of a request that no authorizer allows. Text: docs/behaviour/api-server/requests.md, "Status". */
export function forbiddenRequest(attributes: RequestAttributes, reason: string): ApiError {
  const { user, verb, group, resource, subresource, namespace, name } = attributes
  const tail = reason === '' ? '' : `: ${reason}`
  if (!attributes.isResourceRequest) {
    const why = `User ${quote(user.name)} cannot ${verb} path ${quote(attributes.path)}`
    return new ApiError(403, 'Forbidden', `forbidden: ${escapeHtml(why + tail)}`, {
      details: {},
      headers: NO_SNIFFING,
    })
  }
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  const place = namespace === '' ? 'at the cluster scope' : `in the namespace ${quote(namespace)}`
  const why = `User ${quote(user.name)} cannot ${verb} resource ${quote(combined)} in API group ${quote(group)} ${place}${tail}`
  const refused = forbidden(group, resource, name, escapeHtml(why))
  return new ApiError(refused.code, refused.reason, refused.message, {
    ...(refused.details === undefined ? {} : { details: refused.details }),
    headers: NO_SNIFFING,
  })
}

/** `<resource> "<name>" is forbidden: <why>`, the refusal of admission plug-ins too. */
function forbidden(group: string, resource: string, name: string, why: string): ApiError {
  const target = group === '' ? resource : `${resource}.${group}`
  const named = name === '' ? target : `${target} ${quote(name)}`
  const message = target === '' ? `forbidden: ${why}` : `${named} is forbidden: ${why}`
  const details = {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    ...(resource === '' ? {} : { kind: resource }),
  }
  return new ApiError(403, 'Forbidden', message, { details })
}

function quote(text: string): string {
  return JSON.stringify(text)
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
