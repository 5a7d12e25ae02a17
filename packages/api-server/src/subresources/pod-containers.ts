import { badRequest } from '../http/errors.ts'
import type { Stored } from '../registry/kind-rules.ts'

/** Init containers first, as the server lists them. */
export function containersOf({ spec }: Stored): Stored[] {
  return [...(spec.initContainers ?? []), ...(spec.containers ?? []), ...(spec.ephemeralContainers ?? [])]
}

/** The container a request is about: the named one, or the only one. Throws 400. */
export function chooseContainer(pod: Stored, asked: string): string {
  const names: string[] = containersOf(pod).map((container) => container['name'])
  const podName = pod['metadata'].name
  if (asked !== '') {
    if (!names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${podName}`)
    return asked
  }
  if (names.length === 1) return names[0]!
  throw badRequest(`a container name must be specified for pod ${podName}, choose one of: [${names.join(' ')}]`)
}
