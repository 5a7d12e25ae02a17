/** What a GET of one object says besides its name. Contract: docs/behaviour/api-server/storage-and-watch.md, "Get". */
import type { Clock } from '@gyropilot/foundation'
import { goQuote } from '@gyropilot/schema/go-quote'
import type { ApiError } from '../../contracts.ts'
import { badRequest, unclassified } from '../../http/errors.ts'
import { isTrue } from '../../http/request-info.ts'
import type { ServedResource } from '../../registry/resource-registry.ts'
import type { Store } from '../../storage/store.ts'
import { parseVersion } from '../options.ts'
import { reachRevision } from './revisions.ts'

/** Throws 400. */
export function refuseExport(query: URLSearchParams): void {
  if (isTrue(query.get('export')))
    throw badRequest('the export parameter, deprecated since v1.14, is no longer supported')
}

/** Resolves when the store is as new as is asked for. Throws 400 or 500, and 504 when it does not become so. */
export async function reachAskedVersion(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  resource: ServedResource,
  query: URLSearchParams,
): Promise<void> {
  const asked = query.get('resourceVersion') ?? ''
  if (asked === '') return
  const version = parseVersion(asked)
  if (typeof version === 'object') throw unreadableVersion(resource, asked, version.error)
  await reachRevision(store, clock, version, asked)
}

/** Events are read without a cache, which has words of its own for this. */
function unreadableVersion({ storage }: ServedResource, asked: string, error: string): ApiError {
  const text = `resourceVersion: Invalid value: ${goQuote(asked)}: ${error}`
  return storage.collection === 'events'
    ? badRequest(`invalid resource version: ${text}`)
    : unclassified(text)
}
