/**
 * The four RBAC kinds arranged by subject: which bindings speak of this user or group, in which namespace. Built from the
 * store once and kept up by its watch, so that a decision costs a few map lookups instead of a walk over all bindings.
 */
import type { UserInfo } from '../contracts.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { Store, StoreEvent, StoreWatch } from '../storage/store.ts'
import { serviceAccountUserName } from './identity.ts'
import type { PolicyRule } from './rbac-rules.ts'

const GROUP = 'rbac.authorization.k8s.io'
const RBAC_COLLECTIONS = {
  roles: `roles.${GROUP}`,
  clusterRoles: `clusterroles.${GROUP}`,
  roleBindings: `rolebindings.${GROUP}`,
  clusterRoleBindings: `clusterrolebindings.${GROUP}`,
} as const

/** A binding as it speaks of one subject. */
interface Grant {
  readonly binding: Stored
  readonly subject: Stored
}

/** Subject key (`u:jane`, `g:devs`) -> grants, in the order of binding keys. */
type GrantsBySubject = Map<string, Grant[]>

export class RbacIndex {
  readonly #store: Store
  readonly #cluster: GrantsBySubject = new Map()
  readonly #namespaces = new Map<string, GrantsBySubject>()
  readonly #watches: StoreWatch[] = []

  constructor(store: Store) {
    this.#store = store
    this.#follow(RBAC_COLLECTIONS.clusterRoleBindings)
    this.#follow(RBAC_COLLECTIONS.roleBindings)
  }

  stop(): void {
    for (const watch of this.#watches) watch.stop()
  }

  /** Bindings of the whole cluster first, then those of the namespace. */
  *grantsFor(user: UserInfo, namespace: string): Generator<Grant> {
    const keys = [`u:${user.name}`, ...user.groups.map((group) => `g:${group}`)]
    for (const key of keys) yield* this.#cluster.get(key) ?? []
    const local = namespace === '' ? undefined : this.#namespaces.get(namespace)
    if (local === undefined) return
    for (const key of keys) yield* local.get(key) ?? []
  }

  /** Rules of the role that a binding names; undefined when there is no such role. */
  rulesOf(binding: Stored): readonly PolicyRule[] | undefined {
    const { kind, name } = binding['roleRef']
    return this.roleRules(kind, kind === 'Role' ? binding['metadata'].namespace : '', name)
  }

  roleRules(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined {
    const entry =
      kind === 'Role'
        ? this.#store.get({ collection: RBAC_COLLECTIONS.roles, key: `${namespace}/${name}` })
        : this.#store.get({ collection: RBAC_COLLECTIONS.clusterRoles, key: name })
    return entry === undefined ? undefined : (entry.object['rules'] ?? [])
  }

  #follow(collection: string): void {
    const snapshot = this.#store.list(collection, '')
    if (snapshot === 'expired') throw new Error(`the present of ${collection} cannot be listed`)
    for (const { object } of snapshot.entries) this.#add(object)
    const watch = this.#store.watch(collection, '', snapshot.revision, (event) =>
      this.#apply(event),
    )
    if (watch === 'expired') throw new Error(`the present of ${collection} cannot be watched`)
    this.#watches.push(watch)
  }

  #apply(event: StoreEvent): void {
    if (event.previous !== undefined) this.#remove(event.previous)
    if (event.type === 'deleted') this.#remove(event.object)
    else this.#add(event.object)
  }

  #add(binding: Stored): void {
    const grants = this.#grantsOf(binding)
    for (const subject of binding['subjects'] ?? []) {
      const key = subjectKey(subject, binding['metadata'].namespace)
      if (key === undefined) continue
      const list = grants.get(key) ?? []
      if (list.some((grant) => isSameObject(grant.binding, binding) && grant.subject === subject))
        continue
      grants.set(key, [...list, { binding, subject }])
    }
  }

  #remove(binding: Stored): void {
    const grants = this.#grantsOf(binding)
    for (const subject of binding['subjects'] ?? []) {
      const key = subjectKey(subject, binding['metadata'].namespace)
      if (key === undefined) continue
      const rest = (grants.get(key) ?? []).filter((grant) => !isSameObject(grant.binding, binding))
      if (rest.length === 0) grants.delete(key)
      else grants.set(key, rest)
    }
  }

  #grantsOf(binding: Stored): GrantsBySubject {
    const { namespace } = binding['metadata']
    if (!namespace) return this.#cluster
    let grants = this.#namespaces.get(namespace)
    if (grants === undefined) this.#namespaces.set(namespace, (grants = new Map()))
    return grants
  }
}

function isSameObject(a: Stored, b: Stored): boolean {
  return a['metadata'].uid === b['metadata'].uid && a['metadata'].name === b['metadata'].name
}

function subjectKey(subject: Stored, bindingNamespace: string | undefined): string | undefined {
  if (subject['kind'] === 'User') return `u:${subject['name']}`
  if (subject['kind'] === 'Group') return `g:${subject['name']}`
  const namespace = subject['namespace'] || bindingNamespace
  if (subject['kind'] !== 'ServiceAccount' || !namespace) return undefined
  return `u:${serviceAccountUserName(namespace, subject['name'])}`
}
