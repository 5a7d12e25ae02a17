/**
 * Objects are plain JSON values, as on the wire: timestamps are strings, absent fields are absent. What comes out of a
 * cache is shared and must never be edited; rules build new objects.
 */
import type { ObjectMeta } from './generated/meta-v1.ts'

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue | undefined }

export interface KubernetesObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata?: ObjectMeta
}

/** An object of a kind that is known only at run time. */
export interface UnstructuredObject extends KubernetesObject {
  readonly [field: string]: unknown
}

export interface ObjectList<T extends KubernetesObject = KubernetesObject> {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly resourceVersion?: string
    readonly continue?: string
    readonly remainingItemCount?: number
  }
  readonly items: readonly T[]
}

/** One event of a watch. `object` of ERROR is a Status; of BOOKMARK it is an object with nothing but its resourceVersion. */
export type WatchEvent<T extends KubernetesObject = KubernetesObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK'; readonly object: T }
  | { readonly type: 'ERROR'; readonly object: Status }

/** metav1.Status: the body of every refusal, and of deletions that are done at once. */
export interface Status extends KubernetesObject {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly status?: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: string
  readonly details?: StatusDetails
  readonly code?: number
}

export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

export interface StatusCause {
  readonly reason?: string
  readonly message?: string
  readonly field?: string
}
