import { badRequest } from '../http/errors.ts'
import type { Stored } from '@gyropilot/schema/objects'

/** The container a request is about: the named one, or the only main one (others must be named). Throws 400. */
export function chooseContainer(pod: Stored, asked: string): string {
  const { initContainers = [], containers = [], ephemeralContainers = [] } = pod['spec']
  const namesOf = (list: readonly Stored[]): string[] => list.map((container) => container['name'])
  const names = namesOf([...initContainers, ...containers])
  const podName = pod['metadata'].name
  if (asked !== '') {
    if (![...names, ...namesOf(ephemeralContainers)].includes(asked))
      throw badRequest(`container ${asked} is not valid for pod ${podName}`)
    return asked
  }
  if (containers.length === 1) return containers[0]['name']
  throw badRequest(
    `a container name must be specified for pod ${podName}, choose one of: [${names.join(' ')}]`,
  )
}
