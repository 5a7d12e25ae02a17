import { parseFieldQuery, type FieldQuery } from '@gyropilot/api'
import type { RequestAttributes, UserInfo } from '../contracts.ts'
import type { RequestInfo } from '../http/request-info.ts'
import { pinnedName } from './reads/field-selector.ts'

/** What an authorizer is asked about a request. Contract: docs/behaviour/api-server/requests.md. */
export function attributesOf(info: RequestInfo, user: UserInfo): RequestAttributes {
  const { verb, group, version, resource, subresource, namespace, path, isResourceRequest } = info
  let { name } = info
  const selectors: { fieldSelector?: string; labelSelector?: string } = {}
  if (verb === 'list' || verb === 'watch' || verb === 'deletecollection') {
    const fieldSelector = info.query.get('fieldSelector')
    const labelSelector = info.query.get('labelSelector')
    if (fieldSelector) {
      selectors.fieldSelector = fieldSelector
      // Who may delete an object may not, for that, delete a collection of it alone; below /watch/ the path names it.
      if (name === '' && verb !== 'deletecollection' && !info.watchPath)
        name = pinnedName(termsOf(fieldSelector)) ?? ''
    }
    if (labelSelector) selectors.labelSelector = labelSelector
  }
  return {
    user,
    verb,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    path,
    isResourceRequest,
    ...selectors,
  }
}

/** A selector that cannot be read pins nothing here and is refused later. */
function termsOf(fieldSelector: string): FieldQuery['terms'] {
  try {
    return parseFieldQuery(fieldSelector).terms
  } catch {
    return []
  }
}
