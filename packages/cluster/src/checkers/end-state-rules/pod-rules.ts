/** What pods must have come to that nobody looks after but the pod garbage collector. */
import { resources } from '@gyropilot/api'
import type { Objects } from '../../simulated/objects.ts'

export function* podsOnNodes(objects: Objects): Iterable<string> {
  for (const { metadata, spec } of objects.all(resources.pods)) {
    const { nodeName = '' } = spec ?? {}
    if (nodeName !== '' && objects.find(resources.nodes, undefined, nodeName) === undefined)
      yield `Pod ${metadata?.namespace}/${metadata?.name} is on ${nodeName}, which is not there`
  }
}
