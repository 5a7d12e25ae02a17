/** What a test or a checker asks of the objects of a cluster: read from the store itself, in the turn of the call. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { apiVersionOf, groupResourceOf, resources } from '@gyropilot/api'
import type { Store } from '@gyropilot/api-server'

const BY_KIND = new Map(
  Object.values(resources).map((type) => [
    `${apiVersionOf(type)}/${type.kind}`,
    type as ResourceType,
  ]),
)

/** The resource of an object by its apiVersion and kind; undefined for kinds that are not built in. */
export function resourceOf({ apiVersion, kind }: KubernetesObject): ResourceType | undefined {
  return BY_KIND.get(`${apiVersion}/${kind}`)
}

export class Objects {
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  find<T extends KubernetesObject>(
    type: ResourceType<T>,
    namespace: string | undefined,
    name: string,
  ): T | undefined {
    const key = type.namespaced ? `${namespace}/${name}` : name
    return this.#store.get({ collection: groupResourceOf(type), key })?.object as T | undefined
  }

  /** In storage order. */
  all<T extends KubernetesObject>(type: ResourceType<T>, namespace?: string): readonly T[] {
    const prefix = namespace === undefined ? '' : `${namespace}/`
    const listed = this.#store.list(groupResourceOf(type), prefix)
    return listed === 'expired' ? [] : listed.entries.map(({ object }) => object as T)
  }

  /** Every object of every kind, with its collection. */
  *everything(): Generator<{ readonly collection: string; readonly object: KubernetesObject }> {
    for (const collection of this.#store.collections()) {
      const listed = this.#store.list(collection, '')
      if (listed === 'expired') continue
      for (const { object } of listed.entries)
        yield { collection, object: object as KubernetesObject }
    }
  }
}
