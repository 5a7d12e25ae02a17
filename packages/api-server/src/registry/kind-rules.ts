/**
 * Everything the server knows about one kind beyond its schema: what it fills in, resets, refuses and prints. One small file
 * per kind under `kinds/<group>/`, collected in `kinds/index.ts`. Adding a kind is adding a file.
 * Contract: docs/behaviour/api-server/defaulting-and-validation.md.
 */
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import type { Draft, DraftOf, Stored, StoredOf } from '@gyropilot/schema/objects'
import type { NameRule } from '@gyropilot/schema/validation/metadata'

export type { Draft, DraftOf, Stored, StoredOf }

export interface RuleContext {
  /** Wall time of the request. */
  readonly nowMs: number
  /** `create`, `update` or `patch` of the object itself, or of this subresource. */
  readonly subresource?: string
  readonly userName: string
  /** The whole identity, for kinds that record their requester. */
  readonly user?: {
    readonly name: string
    readonly uid?: string
    readonly groups: readonly string[]
    readonly extra: Readonly<Record<string, readonly string[]>>
  }
  /** Feature gates of 1.36 at their defaults. */
  featureEnabled(gate: string): boolean
  /** Of what is done with the object before it is judged: told even where it is refused. */
  warn?(text: string): void
  /** Of the object's namespace. */
  namespaceLabels?(): Readonly<Record<string, string>> | undefined
}

/** `T`: the generated type of the kind. */
// oxlint-disable-next-line no-explicit-any -- one list holds the rules of all kinds
export interface KindRules<T = any> {
  readonly group: string
  readonly kind: string
  /** How names are checked; default `subdomain`. */
  readonly name?: NameRule
  /** metadata.generateName is the whole name: nothing is appended to it. */
  readonly keepsGeneratedName?: boolean
  /** Static defaults, applied to the stored form at every decode and after merging a patch. Idempotent. */
  defaults?(object: DraftOf<T>): void
  /** Defaults that are the time of the request. As static ones they are owned by who sends the object, but not by who applies it. */
  defaultTimes?(object: DraftOf<T>, nowMs: number): void
  /** The strategy's reset before a create is validated: status dropped, generated fields set. */
  prepareForCreate?(object: DraftOf<T>, context: RuleContext): void
  /** The same before an update; by default status is taken from `stored` when the kind has a status subresource. */
  prepareForUpdate?(object: DraftOf<T>, stored: StoredOf<T>, context: RuleContext): void
  /** What of a new object is told before the errors of its metadata. */
  validateFirst?(object: StoredOf<T>, errors: FieldErrors, context: RuleContext): void
  validate?(object: StoredOf<T>, errors: FieldErrors, context: RuleContext): void
  /**
   * What an update is checked for; default `validate-first`: `validate`, then `validateUpdate`. Secrets and ConfigMaps report
   * `validateUpdate` first. `update-only` never calls `validate`.
   */
  readonly updateOrder?: 'validate-first' | 'update-first' | 'update-only'
  /** Called in addition to `validate`. */
  validateUpdate?(
    object: StoredOf<T>,
    stored: StoredOf<T>,
    errors: FieldErrors,
    context: RuleContext,
  ): void
  /**
   * What becomes of an object by being written and read again: the last change, which those do not see who judge it. Defaults
   * that follow from what the server has generated, and lists that have no empty form.
   */
  canonicalize?(object: DraftOf<T>): void
  /** Rules of the status subresource: by default everything but status and metadata is taken from `stored`. */
  readonly status?: SubresourceRules<T>
  /** Rules of other subresources whose body is the object: `approval`, `ephemeralcontainers`, `resize`. */
  readonly subresources?: Readonly<Record<string, SubresourceRules<T>>>
  /** Kinds with a generation start at 1; it grows when this part changes. Default for kinds with a status: `spec`. Null: none. */
  readonly generationOf?: ((object: StoredOf<T>) => unknown) | null
  /** An empty list or map in that part is a change each time it is sent: the store holds none. */
  readonly generationCountsEmpty?: boolean
  /** PUT creates what is missing, as apply always does (services, roles, leases, endpoints, events, ...). */
  readonly createOnUpdate?: boolean
  /** PUT without a resourceVersion is refused with 422 when false. Default: allowed. */
  readonly unconditionalUpdate?: boolean
  /** Field selectors beyond metadata.name and metadata.namespace: label -> value in the object. */
  readonly selectableFields?: Readonly<Record<string, (object: StoredOf<T>) => string>>
  /** Columns of the Table; default Name and Created At. */
  readonly columns?: readonly PrinterColumn<T>[]
  /** Annotations that only the whole object shows: tables and metadata-only answers are made from a form without them. */
  readonly computedAnnotations?: readonly string[]
  /** The order of a list's rows in a Table, where it is not that of the names. */
  rowOrder?(a: StoredOf<T>, b: StoredOf<T>): number
  /** Conditions of a Table row. */
  rowConditions?(object: StoredOf<T>): readonly unknown[] | undefined
  /** Warnings in the answer's Warning headers. */
  warnings?(object: StoredOf<T>, stored: StoredOf<T> | undefined): readonly string[]
  /** Grace period for a delete, in seconds, or undefined for kinds that end at once. */
  gracePeriodSeconds?(object: StoredOf<T>, requestedSeconds: number | undefined): number | undefined
  /**
   * Kinds that end in their own way: edits the object on DELETE and answers true when it stays until others have done
   * their part. False: the ordinary steps of deletion.
   */
  terminate?(object: DraftOf<T>, nowMs: number): boolean
  /** Why the object of this name cannot be deleted by itself: 403. A collection is deleted with it all the same. */
  undeletable?(name: string): string | undefined
  /** Default deletion policy when the request names none: most kinds `Background`. */
  readonly defaultDeletionPolicy?: 'Background' | 'Orphan'
  /** What takes the place of the rules above where a feature gate is on that is off by default. */
  readonly withGates?: Readonly<Record<string, Partial<KindRules<T>>>>
}

// oxlint-disable-next-line no-explicit-any -- one list holds the rules of all kinds
export interface SubresourceRules<T = any> {
  /** What is written below metadata is not judged. */
  readonly metadataUnchecked?: boolean
  /** An object that is missing is created through the subresource: by PUT and apply, or by apply alone. Default: 404. */
  readonly createOnUpdate?: 'always' | 'applied'
  prepareForUpdate?(object: DraftOf<T>, stored: StoredOf<T>, context: RuleContext): void
  validateUpdate?(
    object: StoredOf<T>,
    stored: StoredOf<T>,
    errors: FieldErrors,
    context: RuleContext,
  ): void
  /** Of the status subresource only. */
  warnings?(object: StoredOf<T>): readonly string[]
}

// oxlint-disable-next-line no-explicit-any -- one list holds the rules of all kinds
export interface PrinterColumn<T = any> {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly format?: 'name' | ''
  readonly description: string
  /** True: rows have the cell, but the Table does not tell of the column. */
  readonly undeclared?: boolean
  /** 0 is shown always, 1 with `-o wide`. Default 0. */
  readonly priority?: number
  cell(object: StoredOf<T>, nowMs: number): string | number | boolean
}
