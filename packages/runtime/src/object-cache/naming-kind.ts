/** Contract: docs/behaviour/runtime/custom-controllers.md, Client and cache. */
import type { KubernetesObject, ObjectList, ResourceType } from '@gyropilot/api'
import { apiVersionOf } from '@gyropilot/api'
import type { Client, ResourceClient } from '@gyropilot/client'
import { verbsOf } from './verbs.ts'

/** The same client, with the kind said where callers and servers leave it out. */
export function namingKinds(client: Client): Client {
  return {
    resource: (type, namespace) => namingKind(client.resource(type, namespace), type),
    raw: (request) => client.raw(request),
  }
}

/**
 * Servers know the kind of a body by what it says: of custom resources they refuse one that says nothing. A Scale is named by its path.
 * Of the items of a list they do not say it, and an event about one of them needs it.
 */
export function namingKind<T extends KubernetesObject>(
  resource: ResourceClient<T>,
  type: ResourceType<T>,
): ResourceClient<T> {
  const names = { apiVersion: apiVersionOf(type), kind: type.kind }
  const named = (object: T, subresource: string | undefined): T =>
    subresource === undefined || subresource === 'status' ? { ...names, ...object } : object
  // Copies: in the process of its server, items are those of its store.
  const listed = (list: ObjectList<T>): ObjectList<T> => ({
    ...list,
    items: list.items.map((item) => (item.kind === undefined ? { ...names, ...item } : item)),
  })
  return {
    ...verbsOf(resource),
    list: async (options) => listed(await resource.list(options)),
    async *pages(options) {
      for await (const page of resource.pages(options)) yield listed(page)
    },
    create: (object, options) => resource.create(named(object, options?.subresource), options),
    update: (object, options) => resource.update(named(object, options?.subresource), options),
  }
}
