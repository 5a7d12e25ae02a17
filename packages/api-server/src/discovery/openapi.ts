/** OpenAPI documents. Contract: docs/behaviour/api-server/requests.md, "Other endpoints". */
import { hash } from 'node:crypto'
import { parseAccept, type Clock, type Logger } from '@gyropilot/foundation'
import type { Answer } from '../http/answer.ts'
import { headerOf, type ServerRequest } from '../http/exchange.ts'
import { servedContent } from '../http/served-content.ts'
import type { ForeignDocuments } from '../aggregation/foreign-documents.ts'
import type { ResourceRegistry, ServedVersion } from '../registry/resource-registry.ts'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import { openApiOf } from './openapi-v3.ts'
import type { OpenApiV3 } from './openapi-v2.ts'
import { servedPart } from './served-part.ts'

interface Document {
  readonly bytes: Uint8Array
  /** Upper-case hex of SHA-512: in the URL and in the ETag. */
  readonly hash: string
}

const PROTOBUF_V2_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
const PROTOBUF_V2 = /^application\/com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf$/
const PROTOBUF_V3 = /^application\/com\.github\.proto-openapi\.spec\.v3[.@]v1\.0\+protobuf$/
const YEAR_SECONDS = 31_536_000
/** Documents of what is served besides groups and versions. */
const PAGES = ['.well-known/openid-configuration', 'api', 'apis', 'openid/v1/jwks', 'version']
const DOCUMENTS = '/openapi/v3/'
const JSON_TYPES = new Set(['application/json', 'application/*', '*/*'])

/** Documents by group and version: recorded ones of built-in kinds, read when somebody asks, and those of custom resources. */
export class OpenApiDocuments {
  readonly #registry: ResourceRegistry
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #toldMs = new WeakMap<Document, number>()
  /** Recorded documents; they never change. */
  readonly #builtIn = new Map<string, Promise<Document | undefined>>()
  /** Published for groups of custom resources; made into bytes when somebody asks. */
  readonly #custom = new Map<string, object | Promise<Document>>()
  /** Of other servers, by APIService. */
  readonly #foreign = new Map<string, ForeignDocuments>()
  /** Made of those that are told in version 2 only. */
  readonly #converted = new Map<string, Document>()
  #v2: Promise<{ readonly json: Document; readonly protobuf: Document }> | undefined

  constructor(registry: ResourceRegistry, clock: Clock, logger: Logger) {
    this.#registry = registry
    this.#clock = clock
    this.#logger = logger
  }

  /** Publishes the document of a group and version of custom resources (`apis/example.com/v1`), or takes it back. */
  publish(path: string, document: object | undefined): void {
    if (document === undefined) this.#custom.delete(path)
    else this.#custom.set(path, document)
    this.#v2 = undefined
  }

  /** Takes the documents of another server's group version among its own, or away again. Its own come first. */
  describe(apiService: string, documents: ForeignDocuments | undefined): void {
    const { groupVersion } = this.#foreign.get(apiService) ?? {}
    if (groupVersion !== undefined) this.#converted.delete(groupVersion)
    this.#v2 = undefined
    if (documents === undefined) this.#foreign.delete(apiService)
    else {
      this.#foreign.set(apiService, documents)
      const { version2, version3 } = documents
      if (version2 === undefined || version3 !== undefined) return
      this.#ifReadable(apiService, () =>
        this.#converted.set(documents.groupVersion, documentOf(openApiOf(version2))),
      )
    }
  }

  /** What another server says may be no document at all: it goes without that, and all others with it. */
  #ifReadable(apiService: string, read: () => void): void {
    try {
      read()
    } catch (error) {
      this.#logger.error(error, 'OpenAPI document of another server could not be read', {
        apiService,
      })
    }
  }

  /** The APIService whose server has the document at this path; undefined: it is here, or nowhere. */
  describedElsewhere(path: string): string | undefined {
    const name = path.slice(DOCUMENTS.length)
    if (!path.startsWith(DOCUMENTS) || this.#names().includes(name)) return undefined
    for (const [apiService, { version3 = {} }] of this.#foreign)
      if (Object.hasOwn(version3, name)) return apiService
    return undefined
  }

  /** Undefined: no such path. */
  async answer(
    request: ServerRequest,
    path: string,
    query: URLSearchParams,
  ): Promise<Answer | undefined> {
    if (path === '/openapi/v2') return this.#version2(request)
    if (path === '/openapi/v3') return this.#index(request)
    if (!path.startsWith(DOCUMENTS)) return undefined
    const name = path.slice(DOCUMENTS.length)
    const document = (await this.#document(name)) ?? this.#converted.get(name)
    if (document === undefined) return { status: 404, body: { kind: 'empty' } }
    return this.#versioned(request, name, document, query.get('hash'))
  }

  #versioned(
    request: ServerRequest,
    name: string,
    document: Document,
    asked: string | null,
  ): Answer {
    // Where only protobuf is wanted JSON is sent, and says so.
    const isWanted = acceptedTypes(request).some(
      (type) => JSON_TYPES.has(type) || PROTOBUF_V3.test(type),
    )
    if (!isWanted) return { status: 406, headers: { vary: 'Accept' }, body: { kind: 'empty' } }
    const etag = JSON.stringify(document.hash)
    const headers: Record<string, string> = { vary: 'Accept' }
    const contentType = 'application/json'
    if (asked !== null && asked !== '' && asked !== document.hash) {
      const location = urlOf(name, document)
      return {
        status: 301,
        headers: { ...headers, etag, location, 'content-type': contentType },
        body: { kind: 'empty' },
      }
    }
    if (asked === document.hash) {
      headers['cache-control'] = 'public, immutable'
      headers['expires'] = new Date(this.#clock.nowMs() + YEAR_SECONDS * 1000).toUTCString()
    }
    const modifiedMs = this.#toldSince(document)
    return servedContent(request, { bytes: document.bytes, contentType, etag, modifiedMs, headers })
  }

  /** Since when clients were told this document: it has not changed after. */
  #toldSince(document: Document): number {
    let toldMs = this.#toldMs.get(document)
    if (toldMs === undefined) this.#toldMs.set(document, (toldMs = this.#clock.nowMs()))
    return toldMs
  }

  async #index(request: ServerRequest): Promise<Answer> {
    const paths: Record<string, { serverRelativeURL: string }> = {}
    for (const name of this.#names()) {
      const document = await this.#document(name)
      if (document !== undefined) paths[name] = { serverRelativeURL: urlOf(name, document) }
    }
    for (const [name, url] of this.#elsewhere())
      if (!Object.hasOwn(paths, name)) paths[name] = { serverRelativeURL: url }
    const document = documentOf({ paths: sorted(paths) })
    return servedContent(request, {
      bytes: document.bytes,
      // The real server leaves the type to be guessed.
      contentType: 'text/plain; charset=utf-8',
      // It is made anew whenever somebody asks.
      modifiedMs: this.#clock.nowMs(),
    })
  }

  /** Where documents of other servers are. */
  *#elsewhere(): Generator<readonly [name: string, url: string]> {
    for (const { version3 = {} } of this.#foreign.values()) yield* Object.entries(version3)
    for (const [name, document] of this.#converted) yield [name, urlOf(name, document)]
  }

  async #version2(request: ServerRequest): Promise<Answer> {
    const vary = 'Accept-Encoding, Accept'
    const wanted = acceptedTypes(request).find(
      (type) => JSON_TYPES.has(type) || PROTOBUF_V2.test(type),
    )
    if (wanted === undefined) return { status: 406, headers: { vary }, body: { kind: 'empty' } }
    const protobuf = PROTOBUF_V2.test(wanted)
    if (this.#v2 === undefined) {
      const building = (this.#v2 = this.#buildVersion2())
      // Who asks next asks anew.
      building.catch(() => {
        if (this.#v2 === building) this.#v2 = undefined
      })
    }
    const document = (await this.#v2)[protobuf ? 'protobuf' : 'json']
    return servedContent(request, {
      bytes: document.bytes,
      contentType: protobuf ? PROTOBUF_V2_TYPE : 'application/json',
      etag: JSON.stringify(document.hash),
      modifiedMs: this.#toldSince(document),
      headers: { vary },
      compressible: true,
    })
  }

  async #buildVersion2(): Promise<{ readonly json: Document; readonly protobuf: Document }> {
    const [{ swaggerOf }, { encodeSwagger }, { merged }] = await Promise.all([
      import('./openapi-v2.ts'),
      import('./openapi-v2-protobuf.ts'),
      import('./openapi-merge.ts'),
    ])
    const documents: OpenApiV3[] = []
    for (const name of this.#names()) {
      const document = await this.#document(name)
      if (document !== undefined)
        documents.push(JSON.parse(Buffer.from(document.bytes).toString()) as OpenApiV3)
    }
    let swagger = swaggerOf(documents)
    for (const [apiService, { groupVersion, version2 }] of [...this.#foreign].sort()) {
      if (version2 === undefined) continue
      const prefix = `/${groupVersion}/`
      this.#ifReadable(apiService, () => {
        const part = merged({ ...swagger, paths: {}, definitions: {} }, version2, prefix)
        // Written by itself first: one that cannot be written would take all with it.
        encodeSwagger(part)
        swagger = merged(swagger, part, prefix)
      })
    }
    return { json: documentOf(swagger), protobuf: documentOfBytes(encodeSwagger(swagger)) }
  }

  /** `api/v1`, `apis/apps`, `apis/apps/v1`, ...: what is served now. Groups of custom resources have versions only. */
  #names(): string[] {
    const names = this.#registry
      .groups()
      .flatMap(({ group, versions }) => [
        ...versions.map(({ version }) => nameOf(group, version)),
        ...(this.#registry.isBuiltInGroup(group) && group !== '' ? [`apis/${group}`] : []),
      ])
    return [...new Set([...PAGES, ...names, ...this.#custom.keys()])].sort()
  }

  #document(name: string): Promise<Document | undefined> {
    const custom = this.#custom.get(name)
    if (custom !== undefined) {
      const document = custom instanceof Promise ? custom : describedDocument(custom)
      this.#custom.set(name, document)
      return document as Promise<Document>
    }
    if (!this.#names().includes(name)) return Promise.resolve(undefined)
    let document = this.#builtIn.get(name)
    if (document === undefined) {
      const [, group = '', version = ''] = name.split('/')
      document = readRecorded(name, this.#registry.version(group, version))
      this.#builtIn.set(name, document)
    }
    return document
  }
}

function acceptedTypes(request: ServerRequest): readonly string[] {
  const accept = headerOf(request.headers, 'accept')
  return accept ? parseAccept(accept).map(({ type }) => type) : ['*/*']
}

function nameOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

function sorted<V>(map: Readonly<Record<string, V>>): Readonly<Record<string, V>> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function urlOf(name: string, document: Document): string {
  return `${DOCUMENTS}${name}?hash=${document.hash}`
}

function documentOf(value: object): Document {
  return documentOfBytes(Buffer.from(stringifyExact(value)))
}

function documentOfBytes(bytes: Uint8Array): Document {
  return { bytes, hash: hash('sha512', bytes).toUpperCase() }
}

async function describedDocument(value: object): Promise<Document> {
  const { withDescriptions } = await import('./descriptions.ts')
  return documentOf(withDescriptions(value))
}

/** Groups of custom resources have no recorded document. */
async function readRecorded(
  name: string,
  served: ServedVersion | undefined,
): Promise<Document | undefined> {
  const file = `${name.replaceAll('/', '__')}.json`
  let recorded: { readonly default: object }
  try {
    recorded = await import(`@gyropilot/api/openapi/${file}`, { with: { type: 'json' } })
  } catch {
    return undefined
  }
  const isWhole = served === undefined || !/(?:alpha|beta)/.test(served.version)
  return describedDocument(isWhole ? recorded.default : servedPart(recorded.default, served))
}
