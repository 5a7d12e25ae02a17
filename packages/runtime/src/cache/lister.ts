import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { groupResourceOf } from '@gyropilot/api'
import { StatusError } from '@gyropilot/client'
import type { Lister } from '../informer.ts'

/** The NotFound error that the server would give: for code that treats a miss in the cache like one on the server. */
export function notFound(type: ResourceType, name: string): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${groupResourceOf(type)} ${JSON.stringify(name)} not found`,
    reason: 'NotFound',
    details: { name, group: type.group, kind: type.resource },
    code: 404,
  })
}

/** From a lister or an error of the server's form. */
export function getOrNotFound<T extends KubernetesObject>(
  lister: Lister<T>,
  type: ResourceType<T>,
  namespace: string | undefined,
  name: string,
): T {
  const object = lister.get(namespace, name)
  if (object === undefined) throw notFound(type, name)
  return object
}

/** Lists what a label selector accepts. Absent: everything, without looking at labels. `nothing`: none, without a scan. */
export function listMatching<T extends KubernetesObject>(
  lister: Lister<T>,
  selector: ((labels: Readonly<Record<string, string>>) => boolean) | 'nothing' | undefined,
  namespace?: string,
): readonly T[] {
  if (selector === 'nothing') return []
  const objects = lister.list(namespace)
  if (selector === undefined) return objects
  return objects.filter((object) => selector(object.metadata?.labels ?? {}))
}
