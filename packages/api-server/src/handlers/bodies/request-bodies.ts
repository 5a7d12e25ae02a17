/** The bodies of requests to resources: read, decoded, and compared with the URL. */
import { badRequest, foreignNamespace } from '../../http/errors.ts'
import { headerOf } from '../../http/exchange.ts'
import type { InputType } from '../../http/negotiation.ts'
import { parseBody, type BodyRefusal, type ParsedBody } from '../../http/request-body.ts'
import { unrecognized } from '@gyropilot/schema/body-refusals'
import type { Draft } from '@gyropilot/schema/objects'
import type { ResourceRegistry } from '../../registry/resource-registry.ts'
import type { ResourceCall } from '../call.ts'
import type { Decoding, ExpectedKind } from './decoding.ts'
import type { WriteOptions } from '../options.ts'
import { parsePatch, patchTypeOf, type PatchBody, type PatchType } from '../writes/patch.ts'

/** The body as a plain JSON value; bytes start with the prefix of protobuf bodies. Throws 400. */
type ProtobufDecoder = (bytes: Uint8Array, expected: ExpectedKind, refuse: BodyRefusal) => unknown

export class RequestBodies {
  readonly #registry: ResourceRegistry
  readonly #decodeProtobuf: ProtobufDecoder

  constructor(registry: ResourceRegistry, decodeProtobuf: ProtobufDecoder) {
    this.#registry = registry
    this.#decodeProtobuf = decodeProtobuf
  }

  parse(call: ResourceCall, type: InputType, kind: string): Promise<ParsedBody> {
    const refuse: BodyRefusal = (why, shown) => unrecognized(kind, why, shown)
    return this.#parse(call, type, kind, refuse)
  }

  /** Their decoder says what is wrong and not of what. */
  parseDeleteOptions(call: ResourceCall, type: InputType): Promise<ParsedBody> {
    return this.#parse(call, type, 'DeleteOptions', badRequest)
  }

  #parse(
    call: ResourceCall,
    type: InputType,
    kind: string,
    refuse: BodyRefusal,
  ): Promise<ParsedBody> {
    const expected = { ...expectedKind(call), kind }
    return parseBody(call.request, type, refuse, (bytes) =>
      this.#decodeProtobuf(bytes, expected, refuse),
    )
  }

  decoding(
    call: ResourceCall,
    expected: ExpectedKind,
    { fieldValidation }: WriteOptions,
  ): Decoding {
    const { group, kind } = call.resource.info
    const own = expected.kind === kind && expected.group === group
    return {
      registry: this.#registry,
      expected,
      resource: own ? call.resource : undefined,
      validation: fieldValidation,
      warn: (text) => call.warnings.add(text),
    }
  }
}

export function patchTypeOfCall(call: ResourceCall): PatchType {
  return patchTypeOf(headerOf(call.request.headers, 'content-type'), !call.resource.custom)
}

export function patchBodyOf(
  { request }: ResourceCall,
  type: Exclude<PatchType, 'apply'>,
  { validation }: Decoding,
): PatchBody {
  if (request.body !== undefined && 'json' in request.body)
    return { value: request.body.json, occurrences: undefined }
  return parsePatch(Buffer.from(request.body?.bytes ?? []).toString(), type, validation)
}

/** The kind of the body that an endpoint takes. */
export function expectedKind({ resource, subresource }: ResourceCall): ExpectedKind {
  const own = resource.info.subresources.find(({ name }) => name === subresource)
  if (subresource === '' || own === undefined) return resource.info
  return resource.custom && subresource === 'scale' ? { ...own, customScale: true } : own
}

export function checkName({ name }: ResourceCall, draft: Draft): void {
  const own: string = draft['metadata']?.name ?? ''
  if (own === '')
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    )
  if (own !== name)
    throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`)
}

export function checkNamespace({ resource, namespace }: ResourceCall, draft: Draft): void {
  // Where the path names none, that is what is told.
  if (!resource.info.namespaced || namespace === '') return
  const own: string = draft['metadata']?.namespace ?? ''
  if (own !== '' && own !== namespace) throw foreignNamespace()
}
