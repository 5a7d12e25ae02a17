/** Drives ownership as the request pipeline does, on one object without storage, admission or kind defaults. */
import { ApiError } from '@gyropilot/schema/api-error'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { decodeObject } from '@gyropilot/schema/decode'
import { applyPatch } from './apply.ts'
import { builtInKind } from './built-in-kind.ts'
import type { FieldFilter } from './compare.ts'
import { keepTimesOfNoop } from './managers.ts'
import type { ManagedFieldsEntry } from './managers.ts'
import { updateManagedFields } from './update.ts'
import type { TypedKind } from './update.ts'

interface Options {
  readonly subresource?: string
  readonly filter?: FieldFilter
  readonly force?: boolean
}

/** One object of a built-in kind, as successive requests leave it. */
export class ObjectUnderTest {
  object: Stored | undefined
  nowMs = Date.parse('2026-01-01T00:00:00Z')
  readonly #apiVersion: string
  readonly #kindName: string
  readonly #kind: TypedKind

  constructor(apiVersion: string, kind: string) {
    this.#apiVersion = apiVersion
    this.#kindName = kind
    this.#kind = builtInKind(apiVersion, kind)!
  }

  /** A PUT of the whole object, or the create that makes it. */
  put(manager: string, body: Draft, options: Options = {}): void {
    const updated = this.#decode(
      structuredClone({ ...body, metadata: { name: 'x', ...body['metadata'] } }),
    )
    updateManagedFields({
      kind: this.#kind,
      live: this.object,
      updated,
      manager,
      apiVersion: this.#apiVersion,
      subresource: options.subresource ?? '',
      filter: options.filter ?? {},
      nowMs: this.nowMs,
    })
    this.#store(updated)
  }

  apply(manager: string, body: Draft, options: Options = {}): void {
    const { object } = applyPatch({
      kind: this.#kind,
      live: this.object,
      configuration: {
        apiVersion: this.#apiVersion,
        kind: this.#kindName,
        ...body,
        metadata: { name: 'x', ...body['metadata'] },
      },
      manager,
      force: options.force ?? false,
      apiVersion: this.#apiVersion,
      kindName: this.#kindName,
      subresource: options.subresource ?? '',
      filter: options.filter ?? {},
      nowMs: this.nowMs,
    })
    this.#store(this.#decode(object))
  }

  /** The refusal of an apply. */
  refusal(manager: string, body: Draft): ApiError {
    try {
      this.apply(manager, body)
    } catch (error) {
      if (error instanceof ApiError) return error
      throw error
    }
    throw new Error('the apply was accepted')
  }

  #decode(body: unknown): Draft {
    const slash = this.#apiVersion.indexOf('/')
    const type = {
      group: slash < 0 ? '' : this.#apiVersion.slice(0, slash),
      version: this.#apiVersion.slice(slash + 1),
      kind: this.#kindName,
    }
    return decodeObject(type, body)!.object
  }

  #store(updated: Draft): void {
    if (this.object !== undefined) keepTimesOfNoop(this.object, updated)
    this.object = updated
  }

  get entries(): readonly ManagedFieldsEntry[] {
    return this.object?.['metadata'].managedFields ?? []
  }

  /** `manager operation [subresource]` -> its field set. */
  owners(): Record<string, unknown> {
    return Object.fromEntries(
      this.entries.map(({ manager, operation, subresource, fieldsV1 }) => [
        [manager, operation, subresource].filter(Boolean).join(' '),
        fieldsV1,
      ]),
    )
  }
}
