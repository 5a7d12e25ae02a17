/** Pods by the node they are bound to, from the cache. */
import { resources } from '@gyropilot/api'
import type { Pod } from '@gyropilot/api'
import type { InformerFactory } from '@gyropilot/runtime'

const NODE_NAME_INDEX = 'spec.nodeName'

/** Adds the index; the answer looks pods up, in no particular order. */
export function podsOnNode(informers: InformerFactory): (nodeName: string) => readonly Pod[] {
  const informer = informers.informer(resources.pods)
  informer.addIndex(NODE_NAME_INDEX, nodeNameOf)
  return (nodeName) => informer.lister.byIndex(NODE_NAME_INDEX, nodeName)
}

/** Unbound pods are in no entry. */
function nodeNameOf({ spec }: Pod): readonly string[] {
  return spec?.nodeName ? [spec.nodeName] : []
}
