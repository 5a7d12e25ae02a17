/** DELETE of one object and of a collection. Contract: docs/behaviour/api-server/requests.md, "Delete". */
import { goQuote } from '@gyropilot/schema/go-quote'
import { headerFields, withoutEmptyGroup } from '../bodies/decoding.ts'
import type { Clock } from '@gyropilot/foundation'
import { ApiError } from '../../contracts.ts'
import type { Answer } from '../../http/answer.ts'
import { badRequest, forbidden, namespaceMissing } from '../../http/errors.ts'
import { headerOf } from '../../http/exchange.ts'
import { inputType } from '../../http/negotiation.ts'
import { checkBodySize, isEmptyBody, type ParsedBody } from '../../http/request-body.ts'
import type { Draft } from '@gyropilot/schema/objects'
import { DecodeError, decodeObject } from '@gyropilot/schema'
import type { Store } from '../../storage/store.ts'
import { listAnswer } from '../answers/answers.ts'
import type { ResourceCall } from '../call.ts'
import type { Deleted, Deleter } from './deletion.ts'
import { listPage, listRequestOf } from '../reads/list.ts'
import { deleteOptionsFromBody, deleteOptionsFromQuery, type DeleteOptions } from '../options.ts'
import type { RequestBodies } from '../bodies/request-bodies.ts'
import { storedAnswer, viewsOf } from '../answers/stored-answers.ts'
import { targetOf } from './write-context.ts'
import type { Target, WriteContext } from './writes.ts'

/** Kinds whose deletion answers with the object even when it is gone. */
const ANSWERS_WITH_OBJECT = new Set(
  [
    'Pod Service ServiceAccount PodTemplate PersistentVolume PersistentVolumeClaim ResourceQuota Namespace StorageClass CSIDriver',
    'CSINode VolumeAttachment VolumeAttributesClass ResourceClaim ResourceClaimTemplate ResourceSlice DeviceClass DeviceTaintRule ResourcePoolStatusRequest',
  ].flatMap((line) => line.split(' ')),
)

const DELETE_OPTIONS = { group: '', version: 'v1', kind: 'DeleteOptions' }

interface DeletionHandlerParts {
  readonly store: Store
  readonly clock: Clock
  readonly deleter: Deleter
  readonly bodies: RequestBodies
}

export class DeletionHandler {
  readonly #parts: DeletionHandlerParts

  constructor(parts: DeletionHandlerParts) {
    this.#parts = parts
  }

  async delete(call: ResourceCall): Promise<Answer> {
    const options = await this.#deleteOptions(call)
    warnOfOrphans(call, options)
    const { rules, info } = call.resource
    const kept = rules.undeletable?.(call.name)
    if (kept !== undefined) throw forbidden(info, call.name, kept)
    const deleted = await this.#parts.deleter.delete(
      targetOf(call),
      options,
      deleteContextOf(call, options),
    )
    return this.#deletedAnswer(call, deleted, options)
  }

  #deletedAnswer(
    call: ResourceCall,
    { object, removed, shown }: Deleted,
    options: DeleteOptions,
  ): Answer | Promise<Answer> {
    const { info } = call.resource
    const status = options.orphanDependents === false && !removed ? 202 : 200
    if (!removed || shown === true || ANSWERS_WITH_OBJECT.has(info.kind))
      return storedAnswer(call, status, object, () => this.#parts.clock.nowMs())
    const details = {
      name: call.name,
      ...(info.group === '' ? {} : { group: info.group }),
      kind: info.resource,
      uid: object['metadata'].uid,
    }
    const value = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
    return {
      status,
      mediaType: call.output.mediaType,
      pretty: call.pretty,
      body: { kind: 'object', value },
    }
  }

  async deleteCollection(call: ResourceCall): Promise<Answer> {
    const { store, clock, deleter } = this.#parts
    const request = listRequestOf(call, false)
    const options = await this.#deleteOptions(call)
    warnOfOrphans(call, options)
    const page = await listPage(store, clock, request, 'always')
    // What was found is looked for where the path says.
    if (page.entries.length > 0 && call.resource.info.namespaced && call.namespace === '')
      throw namespaceMissing()
    const context = deleteContextOf(call, options)
    for (const { object } of page.entries) {
      const { name, namespace = '' } = object['metadata']
      const target: Target = { resource: call.resource, namespace, name, subresource: '' }
      try {
        await deleter.delete(target, options, context, { ...target, name: '' })
      } catch (error) {
        // Somebody else was faster: what was asked for has happened.
        if (!(error instanceof ApiError && error.code === 404)) throw error
      }
    }
    const items = await viewsOf(call.resource, page.entries)
    const metadata = {
      resourceVersion: String(page.revision),
      ...(page.continue === undefined ? {} : { continue: page.continue }),
      ...(page.remainingItemCount === undefined
        ? {}
        : { remainingItemCount: page.remainingItemCount }),
    }
    return listAnswer(call, items, metadata, clock.nowMs())
  }

  async #deleteOptions(call: ResourceCall): Promise<DeleteOptions> {
    checkBodySize(call.request)
    if (isEmptyBody(call.request)) return deleteOptionsFromQuery(call.info.query)
    const type = inputType(headerOf(call.request.headers, 'content-type'))
    const body = await this.#parts.bodies.parseDeleteOptions(call, type)
    checkDeleteOptionsKind(body)
    return deleteOptionsFromBody(decodedDeleteOptions(body))
  }
}

/** Jobs orphan their pods unless they are told not to, and say so. */
function warnOfOrphans({ resource, warnings }: ResourceCall, options: DeleteOptions): void {
  const isJob = resource.info.group === 'batch' && resource.info.resource === 'jobs'
  if (isJob && options.propagationPolicy === undefined && options.orphanDependents === undefined)
    warnings.add(
      'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
    )
}

const SCHEME = 'pkg/apis/meta/internalversion/scheme/register.go:27'
/** Kinds that such a body might be instead: of whatever version, and of those of metadata. */
const UNVERSIONED_KINDS: ReadonlySet<string> = new Set([
  'APIGroup',
  'APIGroupList',
  'APIResourceList',
  'APIVersions',
  'Status',
])
const FORM_KINDS = ['PartialObjectMetadata', 'PartialObjectMetadataList', 'Table', 'TableOptions']
const META_KINDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['meta.k8s.io/v1beta1', new Set(FORM_KINDS)],
  [
    'meta.k8s.io/v1',
    new Set([
      ...FORM_KINDS,
      'CreateOptions',
      'GetOptions',
      'ListOptions',
      'PatchOptions',
      'UpdateOptions',
      'WatchEvent',
    ]),
  ],
])

/** Whatever version it names, it has to be DeleteOptions. Throws 400. */
function checkDeleteOptionsKind(body: ParsedBody): void {
  const { kind, apiVersion } = headerFields(body, badRequest)
  const version = withoutEmptyGroup(apiVersion ?? '') || 'meta.k8s.io/v1'
  if (version.split('/').length > 2) throw badRequest(`unexpected GroupVersion string: ${version}`)
  if (version.endsWith('/') && version !== 'meta.k8s.io/') {
    const shown = Buffer.from(body.bytes).toString()
    throw badRequest(`Object 'apiVersion' is missing in '${shown}'`)
  }
  if (!kind || kind === 'DeleteOptions') return
  if (UNVERSIONED_KINDS.has(kind) || META_KINDS.get(version)?.has(kind) === true)
    throw badRequest(`converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`)
  throw badRequest(
    `no kind ${goQuote(kind)} is registered for version ${goQuote(version)} in scheme "${SCHEME}"`,
  )
}

function deleteContextOf(
  { user, warnings, deadline }: ResourceCall,
  options: DeleteOptions,
): WriteContext {
  return {
    user,
    dryRun: options.dryRun,
    options: { ...options },
    manager: undefined,
    bodyBytes: 0,
    deadline,
    warn: (text) => warnings.add(text),
  }
}

function decodedDeleteOptions(body: ParsedBody): Draft {
  try {
    return decodeObject(DELETE_OPTIONS, body.value ?? {}, body)!.object
  } catch (error) {
    if (error instanceof DecodeError) throw badRequest(error.message)
    throw error
  }
}
