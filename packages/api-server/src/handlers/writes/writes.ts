/** What a write is: for whom, to which object, and what came of it. */
import type { AdmissionView, UserInfo } from '../../contracts.ts'
import { badRequest } from '@gyropilot/schema/api-error'
import { namespaceMissing } from '../../http/errors.ts'
import { goQuote } from '@gyropilot/schema/go-quote'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { pathSegment } from '@gyropilot/schema/validation/names'
import type { ServedResource } from '../../registry/resource-registry.ts'
import type { StoredEntry } from '../../storage/store.ts'
import type { Deadline } from '../limits/deadline.ts'
import type { PatchType } from './patch.ts'

/** The request on whose behalf an object is written. */
export interface WriteContext {
  readonly user: UserInfo
  readonly dryRun: boolean
  /** The options of the request, for admission. */
  readonly options: Readonly<Record<string, unknown>>
  /** Undefined: ownership of fields is not recorded (bindings, the server's own resets). */
  readonly manager: string | undefined
  /** Bytes of the request body; 0 within the process. */
  readonly bodyBytes: number
  /** What the body is, of patches. */
  readonly patch?: PatchType
  /** The answer will be the JSON of what is stored. */
  readonly answersJson?: boolean
  /** Absent: the server's own writes have no bound. */
  readonly deadline?: Deadline
  warn(message: string): void
}

export interface Target {
  readonly resource: ServedResource
  readonly namespace: string
  readonly name: string
  /** Empty for the object itself. */
  readonly subresource: string
}

export interface Written {
  /** In the stored version. */
  readonly object: Stored
  /** Undefined for dry runs and removed objects. */
  readonly entry: StoredEntry | undefined
  readonly created: boolean
}

export interface UpdateRequest {
  /** Makes the wanted object from the current one, both in the served version. Called again when another write came first. */
  makeDraft(current: Stored | undefined): Draft | Promise<Draft>
  /** Called when the object is absent and may be created: throws when the user may not. Absent: 404. */
  readonly beforeCreate?: () => void
  /** PUT: a foreign uid is a conflict. Patches leave it to validation. */
  readonly put?: boolean
  /** Called with what `makeDraft` made when nothing speaks against the write but what the object says it is. */
  checkKind?(draft: Draft): void
  /** Ownership was decided by server-side apply, or is not to be recorded. */
  readonly fieldsManaged?: boolean
  /** Ownership of a view, as apply left it: to be carried over to the object. */
  readonly appliedFields?: readonly Draft[]
  /** What admission sees in the place of the object. */
  readonly admissionView?: AdmissionView
  /** Skips admission, which has seen what the change follows from, the endpoint's resets and the generation (bindings, evictions). */
  readonly internal?: boolean
}

/** The key of what a request names. Throws 400 where its path leaves the namespace empty. */
export function requestedKey(resource: ServedResource, namespace: string, name: string): string {
  if (resource.info.namespaced && namespace === '') throw namespaceMissing()
  return storageKey(resource, namespace, name)
}

/** Throws 400 for a name that no path may have: the one of a request, which no rules have seen. */
export function storageKey({ info }: ServedResource, namespace: string, name: string): string {
  const problems = pathSegment(name)
  if (problems.length > 0)
    throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`)
  return info.namespaced ? `${namespace}/${name}` : name
}
