/** Lists. Contract: docs/behaviour/api-server/storage-and-watch.md, "List" and "Pages". */
import type { Clock } from '@gyropilot/foundation'
import { dnsLabelProblems } from '@gyropilot/api'
import { ApiError } from '../../contracts.ts'
import { badRequest, expired } from '../../http/errors.ts'
import { goQuote } from '@gyropilot/schema/go-quote'
import type { Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../../registry/resource-registry.ts'
import type { Store, StoredEntry, StoreScan } from '../../storage/store.ts'
import type { ResourceCall } from '../call.ts'
import { selectionOf, type Selection } from './field-selector.ts'
import { listOptions, parseVersion, type ListOptions } from '../options.ts'
import { decodeContinue, encodeContinue, encodeStart } from './pages.ts'
import { reachRevision } from './revisions.ts'

export interface ListRequest {
  readonly resource: ServedResource
  /** That of the path, or else of the field selector. Empty: all namespaces, or a cluster-scoped resource. */
  readonly namespace: string
  readonly options: ListOptions
  readonly selection: Selection
}

/** Throws for options that cannot be read. */
export function listRequestOf(call: ResourceCall, watch: boolean): ListRequest {
  const { resource, name, info } = call
  const options = listOptions(info.query, watch)
  const namespace = call.namespace || pinnedNamespace(resource, options)
  return { resource, namespace, options, selection: selectionOf(resource, options, name) }
}

/** A collection of all namespaces of which one is selected is the collection of that one: its tokens too. */
function pinnedNamespace({ info }: ServedResource, { fields }: ListOptions): string {
  if (!info.namespaced || fields.matchesEverything) return ''
  const namespace = fields.pinned('metadata.namespace') ?? ''
  return dnsLabelProblems(namespace).length === 0 ? namespace : ''
}

interface ListedPage {
  readonly revision: number
  readonly entries: readonly StoredEntry[]
  readonly continue?: string
  readonly remainingItemCount?: number
}

const TOO_OLD = 'The resourceVersion for the provided list is too old.'
const TOKEN_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/** `always`: it is read in pages although no limit is set, as a deletion of collections does. A page of a version is that of this version. */
export async function listPage(
  store: Store,
  clock: Clock,
  request: ListRequest,
  paging: 'by limit' | 'always' = 'by limit',
): Promise<ListedPage> {
  const { options } = request
  if (options.continueToken !== '') return continuePage(store, clock, request)
  const version = listVersion(options)
  // Version 0 is answered from memory as a whole: clients that send it expect everything.
  if (options.resourceVersion === '0' && isCached(request))
    return readPage(request, scan(store, request), 0)
  if (version > 0) await reachRevision(store, clock, version, options.resourceVersion)
  const paged = options.limit > 0 || paging === 'always'
  const exact =
    options.resourceVersionMatch === 'Exact' ||
    (version > 0 && paged && options.resourceVersionMatch === '' && !isOneObject(request))
  const found = scan(store, request, exact ? version : undefined)
  if (found === 'expired') throw expired(TOO_OLD)
  return readPage(request, found, options.limit)
}

/** Events are too many to be kept in memory: upstream always reads them from storage, page by page. */
function isCached({ resource }: ListRequest): boolean {
  return resource.storage.collection !== 'events'
}

/** 0 when the request names none. */
function listVersion({ resourceVersion }: ListOptions): number {
  if (resourceVersion === '') return 0
  const version = parseVersion(resourceVersion)
  if (typeof version === 'object') {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${goQuote(resourceVersion)}: ${version.error}`,
    )
  }
  return version
}

async function continuePage(store: Store, clock: Clock, request: ListRequest): Promise<ListedPage> {
  const { continueToken, resourceVersion, limit } = request.options
  const { revision, start } = decodeContinue(continueToken)
  if (resourceVersion !== '' && resourceVersion !== '0')
    throw badRequest('specifying resource version is not allowed when using continue')
  if (revision < 0) return readPage(request, scan(store, request, undefined, start), limit)
  await reachRevision(store, clock, revision)
  const found = scan(store, request, revision, start)
  if (found !== 'expired') return readPage(request, found, limit)
  throw new ExpiredTokenError(encodeStart(-1, start))
}

/** 410 whose metadata carries a token that goes on with the present state. */
class ExpiredTokenError extends ApiError {
  readonly #token: string

  constructor(token: string) {
    super(410, 'Expired', TOKEN_TOO_OLD)
    this.#token = token
  }

  override toStatus() {
    return { ...super.toStatus(), metadata: { continue: this.#token } as object }
  }
}

function scan(store: Store, request: ListRequest, revision: undefined, start?: string): StoreScan
function scan(store: Store, request: ListRequest): StoreScan
function scan(
  store: Store,
  request: ListRequest,
  revision: number | undefined,
  start?: string,
): StoreScan | 'expired'
function scan(
  store: Store,
  { resource, namespace, options }: ListRequest,
  revision?: number,
  start = '',
): StoreScan | 'expired' {
  const prefix = namespacePrefix(resource, namespace)
  const { collection } = resource.storage
  if (options.limit > 0 || start !== '')
    return store.scan(collection, prefix, prefix + start, revision)
  const whole = store.list(collection, prefix, revision)
  if (whole === 'expired') return whole
  return { ...whole, count: () => whole.entries.length }
}

export function namespacePrefix({ info }: ServedResource, namespace: string): string {
  return info.namespaced && namespace !== '' ? `${namespace}/` : ''
}

async function readPage(
  request: ListRequest,
  found: StoreScan,
  limit: number,
): Promise<ListedPage> {
  const { selection, resource } = request
  const { conversion } = resource.storage
  const selects = selection.labels !== undefined || selection.fields !== undefined
  if (!selects || conversion === undefined) return pageOf(request, found, limit)
  // It is selected in the version that is asked for. The store goes on while a webhook converts.
  const entries = [...found.entries]
  await conversion.prepare(entries.map(({ object }) => object))
  return pageOf(request, { ...found, entries }, limit)
}

function pageOf(
  request: ListRequest,
  { revision, entries, count }: StoreScan,
  limit: number,
): ListedPage {
  const { resource, namespace, selection, options } = request
  const { labels, fields } = selection
  const selected = labels !== undefined || fields !== undefined
  if (!selected && limit === 0)
    return { revision, entries: Array.isArray(entries) ? entries : [...entries] }
  const found: StoredEntry[] = []
  const pages = limit > 0 && (options.continueToken !== '' || !isOneObject(request))
  for (const entry of entries) {
    // There is another page even if nothing on it will match: that is not looked at yet.
    if (pages && found.length === limit) {
      const prefix = namespacePrefix(resource, namespace)
      const token = encodeContinue(revision, found.at(-1)!.key.slice(prefix.length))
      const page = { revision, entries: found, continue: token }
      return hasSelector(options) ? page : { ...page, remainingItemCount: count() - limit }
    }
    if (!selected || matches(resource, selection, entry.object)) found.push(entry)
  }
  return { revision, entries: found }
}

/** Who selects a name where it is the whole key asks for one object, which has no pages but those of a token. */
function isOneObject({ resource, namespace, options: { fields } }: ListRequest): boolean {
  if (resource.info.namespaced && namespace === '') return false
  return !fields.matchesEverything && (fields.pinned('metadata.name') ?? '') !== ''
}

function hasSelector({ labels, fields }: ListOptions): boolean {
  return !labels.matchesEverything || !fields.matchesEverything
}

export function matches(
  { storage }: ServedResource,
  { labels, fields }: Selection,
  stored: Stored,
): boolean {
  const view = (): Stored => storage.fromStored?.(stored) ?? stored
  // A webhook may have given the object other labels in this version.
  const labelled = labels === undefined || storage.conversion === undefined ? stored : view()
  if (labels !== undefined && !labels(labelled['metadata'].labels)) return false
  return fields === undefined || fields(view())
}
