/** Contract: docs/behaviour/runtime/custom-controllers.md, Client and cache. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { groupResourceOf } from '@gyropilot/api'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import type { Client } from '@gyropilot/client'
import type { FirstList } from '../cache/reflector/reflector.ts'
import type { Transform } from '../cache/transform.ts'

/**
 * What a read hands out. `frozen`: the object of the cache, frozen to its depth when it is first read: an edit throws where
 * it is made, and no read costs a copy. `copies`: a copy for each reader. `shared`: the object of the cache as it is; who
 * edits it breaks the cache for all.
 */
export type ReadMode = 'frozen' | 'copies' | 'shared'

/** What of a kind is cached. Objects outside look not found. */
export interface CacheScope {
  readonly labelSelector?: string
  readonly fieldSelector?: string
  /** Default: metadata.managedFields is dropped. */
  readonly transform?: Transform<KubernetesObject>
  /** Default `frozen`. */
  readonly reads?: ReadMode
  /** Cached objects are handed to handlers again this often, less or more by a tenth. Default 10 h. */
  readonly syncPeriodMs?: number
  readonly watchBookmarks?: boolean
}

/** By namespace, with what is particular to it; `''`: all others. None at all: all namespaces. */
export type NamespaceScopes = Readonly<Record<string, CacheScope>>

/** What of one type is cached. */
export interface TypeScope extends CacheScope {
  readonly type: ResourceType
  /** In the place of `defaultNamespaces`. */
  readonly namespaces?: NamespaceScopes
}

/** A setting of a type in a namespace goes before one of the type, before one of a default namespace, before the default. */
export interface ObjectCacheOptions extends CacheScope {
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  /** One informer per namespace. Default: all namespaces in one. */
  readonly defaultNamespaces?: NamespaceScopes
  readonly byType?: readonly TypeScope[]
  /** A read of a kind that nobody watches fails instead of starting an informer. */
  readonly failOnMissingInformer?: boolean
  /** Stream initial lists. Default true. */
  readonly watchList?: boolean
  /** What first lists ask for, where lists are not streamed. Default `any`. */
  readonly firstList?: FirstList
  /** Told of edits of cached objects (MutationDetector). Absent: nobody looks. */
  readonly onAltered?: (error: Error) => void
  /** Compares each streamed list with an ordinary one, and is told of a difference. Costs a request; for tests. */
  readonly onInconsistentList?: (error: Error) => void
}

export interface ResolvedScope extends CacheScope {
  /** Undefined: all, all but those of other scopes, or cluster-scoped. */
  readonly namespace: string | undefined
}

const SETTINGS = [
  'labelSelector',
  'fieldSelector',
  'transform',
  'reads',
  'syncPeriodMs',
  'watchBookmarks',
] as const

/** One scope per informer of the type. */
export function scopesOf(options: ObjectCacheOptions, type: ResourceType): ResolvedScope[] {
  const byType = options.byType?.find(
    (scope) => groupResourceOf(scope.type) === groupResourceOf(type),
  )
  const namespaces = type.namespaced ? (byType?.namespaces ?? options.defaultNamespaces) : undefined
  const named = Object.keys(namespaces ?? {})
  if (named.length === 0) return [{ namespace: undefined, ...merged([byType, options]) }]
  return Object.entries(namespaces!).map(([namespace, scope]) => {
    const own = byType?.namespaces === undefined ? undefined : scope
    const fallback = options.defaultNamespaces?.[namespace]
    const settings = merged([own, byType, fallback, options])
    return namespace === '' ? allBut(named, settings) : { namespace, ...settings }
  })
}

/** What another scope has is not cached twice. */
function allBut(named: readonly string[], settings: CacheScope): ResolvedScope {
  const others = named.filter((name) => name !== '').map((name) => `metadata.namespace!=${name}`)
  const terms = [...others, ...(settings.fieldSelector ? [settings.fieldSelector] : [])]
  return {
    ...settings,
    namespace: undefined,
    ...(terms.length > 0 && { fieldSelector: terms.join(',') }),
  }
}

/** Each setting from the first that has it. */
function merged(scopes: readonly (CacheScope | undefined)[]): CacheScope {
  const result: Record<string, unknown> = {}
  for (const setting of SETTINGS) {
    const scope = scopes.find((scope) => scope?.[setting] !== undefined)
    if (scope !== undefined) result[setting] = scope[setting]
  }
  return result
}
