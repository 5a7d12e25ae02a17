/** Turns objects into the form that the client negotiated. Contract: docs/behaviour/api-server/requests.md, "Response (Accept)". */
import { ApiError } from '../../contracts.ts'
import type { Answer } from '../../http/answer.ts'
import { unclassified } from '../../http/errors.ts'
import type { WatchTransform } from '../../http/watch-sink.ts'
import { CUSTOM_SCALE_COLUMNS, SCALE_COLUMNS } from '../../printing/scale-columns.ts'
import { includeObjectOf, metadataOnly, tableOf } from '../../printing/table.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../../registry/resource-registry.ts'
import { internalPackage, splitApiVersion } from '../bodies/decoding.ts'
import type { ResourceCall } from '../call.ts'

interface ListMetadata {
  readonly resourceVersion: string
  readonly continue?: string
  readonly remainingItemCount?: number
}

/** `stored` is in the stored version, or any JSON value when it is not an object of the resource. */
export function objectAnswer(
  call: ResourceCall,
  status: number,
  object: Stored,
  nowMs: number,
): Answer {
  const { output, pretty, resource } = call
  const form = { mediaType: output.mediaType, pretty }
  const { transformation } = output
  if (transformation === undefined || isStatus(object)) {
    return {
      status,
      ...form,
      body: { kind: 'object', value: object, stored: Object.isFrozen(object) },
    }
  }
  if (transformation.as === 'PartialObjectMetadataList') {
    if (resource.custom && !isScale(object)) throw unclassified('content is not a list')
    throw notAList(resource.custom ? 'v1.Scale' : goTypeOf(object))
  }
  if (transformation.as === 'PartialObjectMetadata') {
    return {
      status,
      ...form,
      body: { kind: 'object', value: metadataOnly(object, transformation.version, resource) },
    }
  }
  const options = {
    version: transformation.version,
    includeObject: includeObjectOf(call.info.query),
    nowMs,
  }
  const metadata = tableMetadata(object)
  return {
    status,
    ...form,
    body: {
      kind: 'object',
      value: tableOf(shownAs(resource, object), [object], metadata, options),
    },
  }
}

/** Of one object. What a dry run creates has no version. */
function tableMetadata(object: Stored): { readonly resourceVersion?: string } {
  const resourceVersion = object['metadata']?.resourceVersion
  return resourceVersion === undefined ? {} : { resourceVersion }
}

/** A scale has columns of its own, whatever it is the scale of. */
function shownAs(resource: ServedResource, object: Stored): ServedResource {
  if (!isScale(object)) return resource
  return { ...resource, columns: resource.custom ? CUSTOM_SCALE_COLUMNS : SCALE_COLUMNS }
}

export function listAnswer(
  call: ResourceCall,
  items: readonly Stored[],
  metadata: ListMetadata,
  nowMs: number,
): Answer {
  const { output, pretty, resource } = call
  const form = { mediaType: output.mediaType, pretty }
  const { transformation } = output
  if (transformation === undefined) {
    const { info, listKind, custom } = resource
    const apiVersion = info.group === '' ? info.version : `${info.group}/${info.version}`
    // Lists without a type of their own always say where to go on, even when that is nowhere.
    const head = {
      kind: listKind,
      apiVersion,
      metadata: custom ? { continue: '', ...metadata } : metadata,
    }
    return { status: 200, ...form, body: { kind: 'list', head, items, selfDescribing: custom } }
  }
  const { as, version } = transformation
  if (as === 'PartialObjectMetadata') {
    throw mismatch(
      'you requested PartialObjectMetadata, but the requested object is a list',
      goListType(resource),
    )
  }
  if (as === 'PartialObjectMetadataList') {
    const value = {
      kind: as,
      apiVersion: `meta.k8s.io/${version}`,
      metadata,
      // An empty Go slice that nobody made.
      items: items.length === 0 ? null : items.map((item) => metadataOnly(item, version, resource)),
    }
    return { status: 200, ...form, body: { kind: 'object', value } }
  }
  const options = { version, includeObject: includeObjectOf(call.info.query), nowMs }
  return {
    status: 200,
    ...form,
    body: { kind: 'object', value: tableOf(resource, items, metadata, options) },
  }
}

/** How each object of a watch is shown; undefined: as it is. What it makes undefined cannot be shown. */
export function watchTransform(
  call: ResourceCall,
  nowMs: () => number,
): WatchTransform | undefined {
  const { transformation } = call.output
  if (transformation === undefined) return undefined
  const { as, version } = transformation
  // An event is no list: the first one ends the watch.
  if (as === 'PartialObjectMetadataList') return () => undefined
  if (as !== 'Table')
    return (object) => (isStatus(object) ? object : metadataOnly(object, version, call.resource))
  const includeObject = includeObjectOf(call.info.query)
  let first = true
  return (object, type) => {
    if (isStatus(object)) return object
    const metadata = tableMetadata(object)
    // What a bookmark says stands in its object.
    const included = type === 'BOOKMARK' && includeObject === 'None' ? 'Metadata' : includeObject
    const options = { version, includeObject: included, nowMs: nowMs() }
    const table = tableOf(call.resource, [object], metadata, options, first)
    first = false
    return table
  }
}

function isStatus(object: Stored): boolean {
  return object['kind'] === 'Status' && object['apiVersion'] === 'v1'
}

function isScale(object: Stored): boolean {
  return object['kind'] === 'Scale' && object['apiVersion'] === 'autoscaling/v1'
}

/** `goType`: in which kube-apiserver holds what is asked for. */
export function notAList(goType: string): ApiError {
  return mismatch(
    'you requested PartialObjectMetadataList, but the requested object is not a list',
    goType,
  )
}

function mismatch(text: string, goType: string): ApiError {
  return new ApiError(406, 'NotAcceptable', `${text} (*${goType})`)
}

/** By the object: what a subresource shows is no object of its resource. */
function goTypeOf(object: Stored): string {
  const [group] = splitApiVersion(String(object['apiVersion']))
  return goTypeIn(group, String(object['kind']))
}

function goListType({ info, listKind, custom }: ServedResource): string {
  return custom ? 'unstructured.UnstructuredList' : goTypeIn(info.group, listKind)
}

/** Events of either group are those of the core. */
function goTypeIn(group: string, kind: string): string {
  return `${internalPackage(group === 'events.k8s.io' ? '' : group)}.${kind}`
}
