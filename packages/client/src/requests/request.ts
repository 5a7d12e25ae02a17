/**
 * From a verb and its options to a request, and nothing else: pure, so that every path, query and body can be read off in a
 * test. Contract: docs/behaviour/runtime/rest-client.md, part "Request".
 */
import { apiVersionOf, pathOf } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import type { Decoding } from '../answers/decode-object.ts'
import type {
  DeleteOptions,
  GetOptions,
  ListOptions,
  Patch,
  PatchOptions,
  RequestOptions,
  WatchOptions,
  WriteOptions,
} from '../client.ts'
import { clientErrors } from '../errors.ts'
import type { TransportRequest } from '../transport.ts'

/** A request before identity, timeout and retries are added. */
export interface ApiRequest {
  readonly method: TransportRequest['method']
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly json?: unknown
  /** A watch: never rate limited, no deadline, other retry rules. */
  readonly watch?: boolean
  readonly signal?: AbortSignal
  /** Of a list: see ListOptions. */
  readonly mentioning?: readonly string[]
  /** Of a write: see WriteOptions. */
  readonly unread?: boolean
  /** Of a creation or a deletion: see WriteOptions. */
  readonly due?: boolean
  /** Of a creation: see WriteOptions. */
  readonly repeated?: boolean
  /** See RequestOptions. */
  readonly decode?: Decoding
  /** For the Status made up for an answer that is none. */
  readonly about?: { readonly group: string; readonly resource: string; readonly name?: string }
}

/** What is addressed: a type and, where it is namespaced, a namespace (undefined or empty: all of them). */
export interface Target {
  readonly type: ResourceType
  readonly namespace?: string
}

const JSON_TYPE = 'application/json'
const PATCH_TYPES: Readonly<Record<Patch['type'], string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

type QueryValue = string | number | boolean | undefined

function withQuery(path: string, query: readonly (readonly [string, QueryValue])[]): string {
  let text = ''
  for (const [name, value] of query) {
    if (value === undefined || value === '') continue
    text += `${text === '' ? '?' : '&'}${name}=${encodeURIComponent(String(value))}`
  }
  return path + text
}

function accept(metadataOnly: boolean | undefined, as: string): string {
  return metadataOnly ? `${JSON_TYPE};as=${as};g=meta.k8s.io;v=v1,${JSON_TYPE}` : JSON_TYPE
}

/** Go's client for scales, which knows no group of its own, names none in its errors. */
function about(
  target: Target,
  name?: string,
  subresource?: string,
): NonNullable<ApiRequest['about']> {
  const { resource } = target.type
  const group = subresource === 'scale' ? '' : target.type.group
  return name === undefined ? { group, resource } : { group, resource, name }
}

/** Go's client for metadata addresses by path alone: its errors name no resource. */
function named(
  { metadataOnly, subresource }: { readonly metadataOnly?: boolean; readonly subresource?: string },
  target: Target,
  name?: string,
): Pick<ApiRequest, 'about'> {
  return metadataOnly ? {} : { about: about(target, name, subresource) }
}

/** Rules of a path segment: what breaks them would address something else. */
function checkSegment(what: string, text: string): void {
  const faults: string[] = []
  if (text === '.' || text === '..') faults.push(`may not be '${text}'`)
  if (text.includes('/')) faults.push("may not contain '/'")
  if (text.includes('%')) faults.push("may not contain '%'")
  if (faults.length > 0) {
    const shown = JSON.stringify(text)
    throw clientErrors.make('REQUEST_INVALID', `invalid ${what} ${shown}: [${faults.join(' ')}]`)
  }
}

function objectPath(target: Target, name: string, subresource = ''): string {
  if (name === '') throw clientErrors.make('REQUEST_INVALID', 'resource name may not be empty')
  checkSegment('resource name', name)
  checkSegment('subresource', subresource)
  if (target.type.namespaced && !target.namespace) {
    throw clientErrors.make(
      'REQUEST_INVALID',
      'an empty namespace may not be set when a resource name is provided',
    )
  }
  return pathOf(target.type, namespaceOf(target), name, subresource || undefined)
}

function collectionPath(target: Target): string {
  return pathOf(target.type, namespaceOf(target))
}

function namespaceOf({ namespace }: Target): string | undefined {
  checkSegment('namespace', namespace ?? '')
  return namespace || undefined
}

function writeQuery(options: WriteOptions): (readonly [string, QueryValue])[] {
  return [
    ['dryRun', options.dryRun ? 'All' : undefined],
    ['fieldManager', options.fieldManager],
    ['fieldValidation', options.fieldValidation],
  ]
}

function jsonHeaders(contentType = JSON_TYPE): Record<string, string> {
  return { accept: JSON_TYPE, 'content-type': contentType }
}

/** GET of one object or its subresource. */
export function getRequest(target: Target, name: string, options: GetOptions = {}): ApiRequest {
  return {
    method: 'GET',
    path: withQuery(objectPath(target, name, options.subresource), [
      ['resourceVersion', options.resourceVersion],
    ]),
    headers: { accept: accept(options.metadataOnly, 'PartialObjectMetadata') },
    signal: options.signal,
    ...named(options, target, name),
    ...decodingOf(options),
  }
}

function listQuery(options: ListOptions): (readonly [string, QueryValue])[] {
  return [
    ['labelSelector', options.labelSelector],
    ['fieldSelector', options.fieldSelector],
    ['resourceVersion', options.resourceVersion],
    ['resourceVersionMatch', options.resourceVersionMatch],
    ['limit', options.limit || undefined],
    ['continue', options.continue],
  ]
}

/** GET of a collection, or of one page of it. */
export function listRequest(target: Target, options: ListOptions = {}): ApiRequest {
  return {
    method: 'GET',
    path: withQuery(collectionPath(target), listQuery(options)),
    headers: { accept: accept(options.metadataOnly, 'PartialObjectMetadataList') },
    signal: options.signal,
    ...named(options, target),
    ...(options.mentioning === undefined ? {} : { mentioning: options.mentioning }),
  }
}

/** GET of a collection's changes. */
export function watchRequest(target: Target, options: WatchOptions = {}): ApiRequest {
  return {
    method: 'GET',
    path: withQuery(collectionPath(target), [
      ['watch', true],
      ['labelSelector', options.labelSelector],
      ['fieldSelector', options.fieldSelector],
      ['resourceVersion', options.resourceVersion],
      ['resourceVersionMatch', options.resourceVersionMatch],
      ['allowWatchBookmarks', options.allowWatchBookmarks || undefined],
      ['sendInitialEvents', options.sendInitialEvents],
      ['timeoutSeconds', options.timeoutSeconds],
    ]),
    headers: { accept: accept(options.metadataOnly, 'PartialObjectMetadata') },
    watch: true,
    signal: options.signal,
    ...named(options, target),
    ...decodingOf(options),
  }
}

/**
 * Servers know the kind of built-in resources from the path; of custom ones the body must say it. What goes to another subresource
 * than the status may be of another kind: a Scale, an Eviction.
 */
function withKind(
  type: ResourceType,
  object: KubernetesObject,
  subresource: string | undefined,
): KubernetesObject {
  if (subresource !== undefined && subresource !== 'status') return object
  if (object.apiVersion !== undefined && object.kind !== undefined) return object
  return { apiVersion: apiVersionOf(type), kind: type.kind, ...object }
}

function decodingOf({ decode }: RequestOptions): Pick<ApiRequest, 'decode'> {
  return decode === undefined ? {} : { decode }
}

function dueOf({ due }: WriteOptions | DeleteOptions): Pick<ApiRequest, 'due'> {
  return due === true ? { due } : {}
}

/** Of a write's answer. */
function readingOf(options: WriteOptions): Pick<ApiRequest, 'unread' | 'decode'> {
  return options.unread === true ? { unread: true } : decodingOf(options)
}

/** POST to a collection. Throws REQUEST_INVALID for a namespaced type without namespace. */
export function createRequest(
  target: Target,
  object: KubernetesObject,
  options: WriteOptions = {},
): ApiRequest {
  if (target.type.namespaced && !target.namespace) {
    throw clientErrors.make('REQUEST_INVALID', 'an empty namespace may not be set during creation')
  }
  const name = object.metadata?.name
  const path = options.subresource
    ? objectPath(target, name ?? '', options.subresource)
    : collectionPath(target)
  return {
    method: 'POST',
    path: withQuery(path, writeQuery(options)),
    headers: jsonHeaders(),
    json: withKind(target.type, object, options.subresource),
    signal: options.signal,
    about: about(target, name),
    ...dueOf(options),
    ...(options.repeated === true ? { repeated: true } : {}),
    ...readingOf(options),
  }
}

/** POST to a subresource: a binding, an eviction, a token request. */
export function createSubresourceRequest(
  target: Target,
  name: string,
  subresource: string,
  body: KubernetesObject,
  options: WriteOptions = {},
): ApiRequest {
  return {
    method: 'POST',
    path: withQuery(objectPath(target, name, subresource), writeQuery(options)),
    headers: jsonHeaders(),
    json: body,
    signal: options.signal,
    about: about(target, name),
    ...decodingOf(options),
  }
}

/** PUT of a whole object; its resourceVersion, where it has one, must be the stored one. */
export function updateRequest(
  target: Target,
  object: KubernetesObject,
  options: WriteOptions = {},
): ApiRequest {
  const name = object.metadata?.name ?? ''
  return {
    method: 'PUT',
    path: withQuery(objectPath(target, name, options.subresource), writeQuery(options)),
    headers: jsonHeaders(),
    json: withKind(target.type, object, options.subresource),
    signal: options.signal,
    about: about(target, name, options.subresource),
    ...readingOf(options),
  }
}

/** PATCH with the media type of the patch. */
export function patchRequest(
  target: Target,
  name: string,
  patch: Patch,
  options: PatchOptions = {},
): ApiRequest {
  return {
    method: 'PATCH',
    path: withQuery(objectPath(target, name, options.subresource), [
      ...writeQuery(options),
      ['force', options.force],
    ]),
    headers: jsonHeaders(PATCH_TYPES[patch.type]),
    json: patch.type === 'json' ? patch.operations : patch.value,
    signal: options.signal,
    about: about(target, name),
    ...readingOf(options),
  }
}

/** Server-side apply. The body is JSON, which is YAML too. */
export function applyRequest(
  target: Target,
  name: string,
  object: KubernetesObject,
  options: PatchOptions,
): ApiRequest {
  if (!options.fieldManager) {
    throw clientErrors.make('REQUEST_INVALID', 'fieldManager is required for apply patch')
  }
  return {
    method: 'PATCH',
    path: withQuery(objectPath(target, name, options.subresource), [
      ...writeQuery(options),
      ['force', options.force],
    ]),
    headers: jsonHeaders('application/apply-patch+yaml'),
    json: object,
    signal: options.signal,
    about: about(target, name),
    ...readingOf(options),
  }
}

/** metav1.DeleteOptions. They go in the body, which makes servers ignore the same options in the query. */
function deleteBody(options: DeleteOptions): unknown {
  return {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    ...(options.gracePeriodSeconds === undefined
      ? {}
      : { gracePeriodSeconds: options.gracePeriodSeconds }),
    ...(options.preconditions === undefined ? {} : { preconditions: options.preconditions }),
    ...(options.propagationPolicy === undefined
      ? {}
      : { propagationPolicy: options.propagationPolicy }),
    ...(options.dryRun ? { dryRun: ['All'] } : {}),
  }
}

/** DELETE of one object, options in the body. */
export function deleteRequest(
  target: Target,
  name: string,
  options: DeleteOptions = {},
): ApiRequest {
  return {
    method: 'DELETE',
    path: objectPath(target, name),
    headers: jsonHeaders(),
    json: deleteBody(options),
    signal: options.signal,
    about: about(target, name),
    ...dueOf(options),
    ...decodingOf(options),
  }
}

/** DELETE of everything that the selectors match. */
export function deleteCollectionRequest(
  target: Target,
  options: DeleteOptions & ListOptions = {},
): ApiRequest {
  return {
    method: 'DELETE',
    path: withQuery(collectionPath(target), listQuery(options)),
    headers: {
      ...jsonHeaders(),
      accept: accept(options.metadataOnly, 'PartialObjectMetadataList'),
    },
    json: deleteBody(options),
    signal: options.signal,
    ...named(options, target),
    ...(options.mentioning === undefined ? {} : { mentioning: options.mentioning }),
  }
}

/** Adds a parameter to a path that may have a query already. */
export function addQuery(path: string, name: string, value: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(value)}`
}
