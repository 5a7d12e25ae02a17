/**
 * The two queues: a node's NoSchedule taints and labels follow its conditions; a pod that comes to a node that is not ready is
 * not ready. Contract: docs/behaviour/controllers/node-lifecycle-controller.md, A and F.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import type { ControllerContext, KeyedController, Reconcile } from '@gyropilot/runtime'
import { EVENT_COMPONENT, NODE_QUEUE, NODE_WORKERS, POD_QUEUE, POD_WORKERS } from './config.ts'
import { labelChanges, noScheduleChanges } from './condition-taints.ts'
import { readyOf } from './heartbeat.ts'
import type { HealthRecord } from './heartbeat.ts'
import { markPodsNotReady } from './mark-pods.ts'
import { setLabels, swapTaints } from './node-writes.ts'

type Informers = Pick<ControllerContext, 'informers'>

export function nodeLogic({ informers }: Informers): KeyedController<Node> {
  const { lister } = informers.informer(resources.nodes)
  return {
    queueName: NODE_QUEUE,
    workers: NODE_WORKERS,
    eventComponent: EVENT_COMPONENT,
    watches: [
      {
        type: resources.nodes,
        onAdd: (node) => [keyOf(node)],
        onUpdate: (_, node) => [keyOf(node)],
      },
    ],
    observe: (key) => lister.getByKey(key),
    reconcile: reconcileNode,
  }
}

/** An error is not tried again: the next event of the node is. */
export function* reconcileNode(node: Node): Reconcile {
  // 2.-3.
  const { add, remove } = noScheduleChanges(node)
  const tainting = yield* swapTaints(node, 'NoSchedule', add, remove)
  // 4.
  const labels = labelChanges(node)
  const labelling = Object.keys(labels).length === 0 ? undefined : yield* setLabels(node, labels)
  const error = tainting ?? labelling
  return error === undefined ? undefined : { error, terminal: true }
}

interface BoundPod {
  readonly pod: Pod
  /** Undefined: not looked at yet. */
  readonly record: HealthRecord | undefined
  /** Undefined: not in the cache. */
  readonly node: Node | undefined
}

/** `passEveryMs`: within that time the monitor has looked at a node that is new to it. */
export function podLogic(
  { informers }: Informers,
  recordOf: (nodeName: string) => HealthRecord | undefined,
  passEveryMs: number,
): KeyedController<BoundPod> {
  const pods = informers.informer(resources.pods)
  const nodes = informers.informer(resources.nodes)
  const observe = (pod: Pod): BoundPod => {
    const nodeName = pod.spec?.nodeName ?? ''
    return { pod, record: recordOf(nodeName), node: nodes.lister.get(undefined, nodeName) }
  }
  const keysOf = (pod: Pod): readonly string[] =>
    !pod.spec?.nodeName || isLeftAlone(observe(pod)) ? [] : [keyOf(pod)]
  return {
    queueName: POD_QUEUE,
    workers: POD_WORKERS,
    eventComponent: EVENT_COMPONENT,
    watches: [
      {
        type: resources.pods,
        onAdd: keysOf,
        onUpdate: (previous: Pod, pod: Pod) =>
          // A namesake comes too, of which a watch with a gap tells as of an update.
          previous.spec?.nodeName === pod.spec?.nodeName &&
          previous.metadata?.uid === pod.metadata?.uid
            ? []
            : keysOf(pod),
      },
    ],
    alsoAwait: [nodes],
    observe(key) {
      const pod = pods.lister.getByKey(key)
      return pod && observe(pod)
    },
    reconcile: (bound) => reconcilePod(bound, passEveryMs),
  }
}

/**
 * Most pods: their node is ready, and was when it was last looked at. The pass that finds it otherwise notes that before it lists pods,
 * and the cache has a pod before its watch tells of it, so that one of the two sees the other.
 */
function isLeftAlone({ record, node }: BoundPod): boolean {
  return node !== undefined && readyOf(node)?.status === 'True' && !isRecordedAsDown(record)
}

function isRecordedAsDown(record: HealthRecord | undefined): boolean {
  return record?.ready !== undefined && record.ready.status !== 'True'
}

function* reconcilePod({ pod, record, node }: BoundPod, passEveryMs: number): Reconcile {
  if (record === undefined) {
    // At a start pods come before the first pass, and nobody else would mark those of a node that is not ready by then. A ready node needs
    // no second look at all its pods: the pass that finds it not ready marks them.
    const isDown = node !== undefined && readyOf(node)?.status !== 'True'
    return isDown ? { requeueAfterMs: passEveryMs } : undefined
  }
  const nodeName = pod.spec?.nodeName ?? ''
  if (node === undefined) return { error: new Error(`node ${nodeName} is not in the cache`) }
  if (!isRecordedAsDown(record)) return
  const error = yield* markPodsNotReady([pod], nodeName)
  return error === undefined ? undefined : { error }
}
