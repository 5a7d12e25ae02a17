/** Where the parts of the server meet: the request pipeline calls authentication, authorization, admission and subresources by these shapes. */
import type { X509Certificate } from 'node:crypto'
import type { DiscoveredResource } from '@gyropilot/api'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import type { Store } from './storage/store.ts'
import type { ConnectionTarget } from './kubelets/connection-target.ts'

export { ApiError } from '@gyropilot/schema/api-error'

/** One resource as the registry serves it, built-in or custom: what discovery tells of it. */
export type ResourceInfo = DiscoveredResource

export interface UserInfo {
  readonly name: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra: Readonly<Record<string, readonly string[]>>
}

export interface Credentials {
  /** Lower-case header names. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** What the peer showed of certificates, not judged yet: its own first. Absent or empty: none. */
  readonly clientCertificates?: readonly X509Certificate[]
}

/** Takes what the answer says in Warning headers. */
export interface WarningSink {
  add(text: string): void
}

export interface Authenticator {
  /** Undefined: no credential was shown (anonymous). Throws ApiError 401 for a credential that does not hold. */
  authenticate(
    credentials: Credentials,
    warnings?: WarningSink,
  ): UserInfo | undefined | Promise<UserInfo | undefined>
}

export interface RequestAttributes {
  readonly user: UserInfo
  /** get, list, watch, create, update, patch, delete, deletecollection; for other paths the lower-case method. */
  readonly verb: string
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path: string
  readonly isResourceRequest: boolean
  /** Copies for SubjectAccessReview. */
  readonly fieldSelector?: string
  readonly labelSelector?: string
}

export interface Authorizer {
  /** Synchronous: rules are read from the store. */
  authorize(attributes: RequestAttributes): { readonly allowed: boolean; readonly reason: string }
}

export interface AdmissionRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly resource: ResourceInfo
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  /** In the path: that of a POST to a collection has none. Absent: as `name`. */
  readonly nameInPath?: string
  /** Mutating plug-ins edit it. Absent for DELETE. */
  readonly object?: Draft
  readonly oldObject?: Stored
  readonly user: UserInfo
  readonly dryRun: boolean
  readonly options: Readonly<Record<string, unknown>>
  /** The second run of all mutating plug-ins, because one asked for it. They see what the others have changed. */
  readonly reinvocation?: boolean
  /** Adds a Warning header to the answer. */
  warn(message: string): void
}

export interface AdmissionPlugin {
  readonly name: string
  handles(request: AdmissionRequest): boolean
  /** Throws ApiError to refuse. `reinvoke`: all mutating plug-ins are to run once more. */
  mutate?(
    request: AdmissionRequest,
  ): void | undefined | 'reinvoke' | Promise<void | undefined | 'reinvoke'>
  validate?(request: AdmissionRequest): void | Promise<void>
}

/** What a subresource handler is given. The pipeline has authenticated, authorized and decoded. */
export interface SubresourceCall {
  /** HEAD and OPTIONS only where requests are passed on. */
  readonly method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly resource: ResourceInfo
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly query: URLSearchParams
  readonly user: UserInfo
  readonly nowMs: number
  /** The decoded body, defaulted, or undefined. */
  readonly body?: Draft
  readonly dryRun: boolean
  /** The view is read for a patch of it. */
  readonly isForPatch?: boolean
  /** Of proxies: what is to be passed on. */
  readonly passed?: PassedCall
  /** Who the fields written on behalf of this request belong to (managedFields). */
  readonly manager?: string
  /** The options of the request, as admission sees them. */
  readonly admissionOptions?: Readonly<Record<string, unknown>>
  /** Server-side apply to a view: the managedFields that it left on the view. */
  readonly appliedFields?: readonly Draft[]
  readonly server: ServerInternals
  /** Adds a Warning header to the answer. */
  warn(message: string): void
}

/** The request behind `.../proxy`. */
export interface PassedCall {
  /** Behind `/proxy`, as it was sent: empty, or with a leading slash. */
  readonly path: string
  /** With its question mark, or empty. */
  readonly query: string
  /** Up to and with `/proxy`. */
  readonly ownPath: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Uint8Array | undefined
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal | undefined
}

export interface SubresourceAnswer {
  readonly code: number
  /** A JSON value, unless `contentType` is given. */
  readonly body: unknown
  /** Body is a string, or chunks that are sent as they come (logs); `204` has no body. */
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  /** Instead of a body: what the upgraded connection leads to. */
  readonly connection?: ConnectionTarget
}

/**
 * One subresource, or with an empty `subresource` a whole virtual resource (reviews, `bindings`, `componentstatuses`): then
 * POST is its create, GET with a name its get and without one its list.
 * For PATCH the pipeline calls GET, applies the patch to the answer and calls again with PATCH and the patched body.
 */
export interface SubresourceHandler {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly methods: readonly SubresourceCall['method'][]
  /** The metadata of what is created is that of the parent, and its uid a precondition: otherwise a POST brings none. */
  readonly sendsIdentity?: true
  /** Of what is created: before anybody looks at it, so that who sends it owns them. */
  defaults?(body: Draft): void
  /**
   * Of what is created, after mutating and before validating admission: throws ApiError for what is wrong in itself, and
   * completes the body as those that judge see it.
   */
  check?(call: SubresourceCall): void
  handle(call: SubresourceCall): Promise<SubresourceAnswer>
}

/** A step around the storage of one resource, for what is not in the object itself: addresses, ports and Endpoints of services. */
export interface AllocationHook {
  readonly group: string
  readonly resource: string
  /**
   * Runs after mutating admission and the strategy's reset, before validation. Edits the object; throws ApiError to refuse.
   * What it returns is called once, with whether the object was stored: what was taken is then kept or given back.
   */
  begin(request: AllocationRequest): (stored: boolean) => void
  /** After the object is gone from the store. */
  released(object: Stored): void
}

export interface AllocationRequest {
  readonly object: Draft
  readonly oldObject?: Stored
  readonly nowMs: number
  readonly dryRun: boolean
}

/** What admission sees in the place of an object: the body of a subresource that is a part of it in a form of its own. */
export interface AdmissionView {
  of(object: Stored): Draft
  /** As the request has it: what those see and edit who may change it. */
  readonly sent: Draft
  /** Carries over what admission made of the view. */
  into(draft: Draft, view: Stored): void
}

/** Writes done by the server itself (evictions, bindings, bootstrap), through the same rules as a client's. */
export interface ServerInternals {
  readonly store: Store
  resource(group: string, resource: string): ResourceInfo | undefined
  get(group: string, resource: string, namespace: string, name: string): Stored | undefined
  /** A stored object as a version of its resource shows it. Throws ApiError for what cannot be converted. */
  view(resource: ResourceInfo, stored: Stored): Promise<Stored>
  list(group: string, resource: string, namespace?: string): readonly Stored[]
  /** Runs defaults, strategy, admission and validation, then commits. Throws ApiError. */
  create(
    group: string,
    resource: string,
    object: Draft,
    as: UserInfo,
    options?: { dryRun?: boolean },
  ): Promise<Stored>
  /**
   * Reads, lets `change` edit a copy, runs the rules of the endpoint, commits; tries again when another write came between.
   * `subresource` chooses whose rules apply; `internal` skips the endpoint's resets (binding sets spec.nodeName).
   */
  update(
    group: string,
    resource: string,
    namespace: string,
    name: string,
    change: (draft: Draft) => void,
    options?: {
      subresource?: string
      /** In which version `change` edits. Absent: the preferred one. */
      version?: string
      internal?: boolean
      dryRun?: boolean
      as?: UserInfo
      /** Whose fields the write sets become in managedFields. Absent: the server's own, with `internal` nobody's. Empty: not recorded. */
      manager?: string
      /** Ownership was decided by apply on the subresource's view; `manager` says only that it is recorded. */
      appliedFields?: readonly Draft[]
      admissionView?: AdmissionView
      /** The options of the request on whose behalf it is, as admission sees them. */
      admissionOptions?: Readonly<Record<string, unknown>>
      warn?: (message: string) => void
    },
  ): Promise<Stored>
  delete(
    group: string,
    resource: string,
    namespace: string,
    name: string,
    options: Readonly<Record<string, unknown>>,
    as: UserInfo,
    /** Whether admission is asked about the deletion; it is by default. */
    admitted?: 'asked' | 'unasked',
  ): Promise<unknown>
}
