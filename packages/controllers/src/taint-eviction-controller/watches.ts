/** Contract: docs/behaviour/controllers/taint-eviction-controller.md, Watches and keys. */
import { semanticEqual } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
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

/**
 * A pod on no node has nothing to fear from taints, and most pods are new on no node: they are not judged at all. Their deletion is
 * told nevertheless: under the same name there may have been one that was bound.
 */
export function podHandler(enqueue: (key: string) => void): EventHandler<Pod> {
  return {
    onAdd(pod) {
      if (pod.spec?.nodeName) enqueue(keyOfPod(pod))
    },
    onUpdate(previous, current) {
      // Deleted and made anew while the watch had a gap.
      const isOther = previous.metadata?.uid !== current.metadata?.uid
      if (!isOther && !current.spec?.nodeName) return
      const isMoved = previous.spec?.nodeName !== current.spec?.nodeName
      const toleratesOther = !semanticEqual(previous.spec?.tolerations, current.spec?.tolerations)
      if (isOther || isMoved || toleratesOther) enqueue(keyOfPod(current))
    },
    onDelete(deleted) {
      const pod = lastKnown(deleted)
      if (pod !== undefined) enqueue(keyOfPod(pod))
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
      enqueue(deleted instanceof DeletedFinalStateUnknown ? deleted.key : nameOf(deleted))
    },
  }
}

function keyOfPod({ metadata, spec }: Pod): string {
  const { namespace = '', name = '' } = metadata ?? {}
  return keyOfItem({ namespace, name, nodeName: spec?.nodeName ?? '' })
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? ''
}

function lastKnown(deleted: Pod | DeletedFinalStateUnknown<Pod>): Pod | undefined {
  return deleted instanceof DeletedFinalStateUnknown ? deleted.object : deleted
}
