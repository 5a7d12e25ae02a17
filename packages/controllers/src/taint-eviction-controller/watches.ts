/** Contract: docs/behaviour/controllers/taint-eviction-controller.md, Watches and keys. */
import { semanticEqual } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import { keyOfDeleted, lastStateOf } from '@gyropilot/runtime'
import type { EventHandler } from '@gyropilot/runtime'
import { noExecuteTaints } from './toleration-time.ts'

/** What happened to a pod, and on which node. */
interface PodItem {
  readonly namespace: string
  readonly name: string
  /** Empty: not bound. */
  readonly nodeName: string
}

/** Names of objects have no slash. */
function keyOfItem({ namespace, name, nodeName }: PodItem): string {
  return `${namespace}/${name}/${nodeName}`
}

export function itemOfKey(key: string): PodItem {
  const [namespace = '', name = '', nodeName = ''] = key.split('/')
  return { namespace, name, nodeName }
}

/** What makes a pod worth an item. */
export interface PodConcerns {
  /** By the node as the cache has it now. */
  hasNoExecuteTaints(nodeName: string): boolean
  /** Whether a pod of this name waits for its end. */
  isWaiting(namespace: string, name: string): boolean
}

/**
 * Of a pod that neither has a timer nor is on a node with NoExecute taints an item would come to nothing, and so are nearly all.
 * Nothing is missed: the cache has the pod before its handler is called, so that the item of a node that gets a taint later finds it.
 * Under the name of a pod on no node, or of one that is gone, there may have been one that has a timer.
 */
export function podHandler(
  { hasNoExecuteTaints, isWaiting }: PodConcerns,
  enqueue: (key: string) => void,
): EventHandler<Pod> {
  const told = (pod: Pod): void => {
    const { namespace = '', name = '' } = pod.metadata ?? {}
    const nodeName = pod.spec?.nodeName ?? ''
    if (isWaiting(namespace, name) || (nodeName !== '' && hasNoExecuteTaints(nodeName)))
      enqueue(keyOfItem({ namespace, name, nodeName }))
  }
  return {
    onAdd: told,
    onUpdate(previous, current) {
      // Deleted and made anew while the watch had a gap.
      const isOther = previous.metadata?.uid !== current.metadata?.uid
      const isMoved = previous.spec?.nodeName !== current.spec?.nodeName
      const toleratesOther = !semanticEqual(previous.spec?.tolerations, current.spec?.tolerations)
      if (isOther || isMoved || toleratesOther) told(current)
    },
    onDelete(deleted) {
      const pod = lastStateOf(deleted)
      if (pod !== undefined) told(pod)
    },
  }
}

export function nodeHandler(enqueue: (key: string) => void): EventHandler<Node> {
  return {
    onAdd: (node) => enqueue(nameOf(node)),
    onUpdate(previous, current) {
      if (!semanticEqual(noExecuteTaints(previous), noExecuteTaints(current)))
        enqueue(nameOf(current))
    },
    onDelete(deleted) {
      enqueue(keyOfDeleted(deleted))
    },
  }
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? ''
}
