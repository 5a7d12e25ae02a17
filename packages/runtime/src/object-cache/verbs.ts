import type { KubernetesObject } from '@gyropilot/api'
import type { ResourceClient } from '@gyropilot/client'

/** A class's methods do not spread. */
export function verbsOf<T extends KubernetesObject>(
  resource: ResourceClient<T>,
): ResourceClient<T> {
  return {
    get: (...args) => resource.get(...args),
    list: (...args) => resource.list(...args),
    pages: (...args) => resource.pages(...args),
    watch: (...args) => resource.watch(...args),
    create: (...args) => resource.create(...args),
    update: (...args) => resource.update(...args),
    patch: (...args) => resource.patch(...args),
    apply: (...args) => resource.apply(...args),
    delete: (...args) => resource.delete(...args),
    deleteCollection: (...args) => resource.deleteCollection(...args),
    createSubresource: (...args) => resource.createSubresource(...args),
  }
}
