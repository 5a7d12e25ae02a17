/** A pass over all nodes. Step numbers are those of docs/behaviour/controllers/cloud-node-lifecycle-controller.md, Sync. */
import { findCondition, resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import { compareStrings, errorText } from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import { recordEvent, remove, write } from '@gyropilot/runtime'
import type { Lister, Reconcile } from '@gyropilot/runtime'
import { machineExists, machineIsShutDown } from './machine-state.ts'
import { addShutdownTaint, removeShutdownTaint } from './shutdown-taint.ts'

/**
 * One node after the other, by name, each as it is when its turn comes: the cloud may take its time, and one that has become Ready
 * meanwhile is left alone. What goes wrong with one is logged, and the others have their turn.
 */
export function* pass(
  nodes: Pick<Lister<Node>, 'list' | 'get'>,
  provider: CloudProvider,
  logger: Logger,
): Reconcile<void> {
  for (const name of nodes.list().map(nameOf).toSorted(compareStrings)) {
    const node = nodes.get(undefined, name)
    if (node === undefined) continue
    const problem = yield* look(node, provider)
    if (problem !== undefined) logger.error(problem.error, problem.what, { node: name })
  }
}

interface Problem {
  readonly what: string
  readonly error: unknown
}

function* look(node: Node, provider: CloudProvider): Reconcile<Problem | undefined> {
  // 1.
  const ready = findCondition(node.status?.conditions, 'Ready')?.status ?? 'Unknown'
  // 2.
  if (ready === 'True') {
    const error = yield* removeShutdownTaint(node)
    return error === undefined
      ? undefined
      : { what: 'The taint of machines that are switched off could not be removed', error }
  }
  // 3.
  const exists = yield* machineExists(node, provider)
  if (!exists.ok)
    return { what: 'The cloud did not say whether the machine exists', error: exists.error }
  // 4.
  if (!exists.object) return yield* deleteNode(node)
  // 5.
  const isShutDown = yield* machineIsShutDown(node, provider)
  if (!isShutDown.ok)
    return { what: 'The cloud did not say whether the machine is on', error: isShutDown.error }
  if (!isShutDown.object) return undefined
  const error = yield* addShutdownTaint(node)
  return error === undefined ? undefined : { what: 'The taint could not be written', error }
}

/** This one, whose machine is gone: a pass may be long, and who has taken the name since runs on another machine. */
function* deleteNode(node: Node): Reconcile<Problem | undefined> {
  const name = nameOf(node)
  yield* recordEvent(
    node,
    'Normal',
    'DeletingNode',
    `Deleting node ${name} because it does not exist in the cloud provider`,
  )
  const preconditions = { uid: node.metadata?.uid }
  const deleted = yield* write(remove(resources.nodes, node, { preconditions }))
  if (deleted.ok) return undefined
  const message = `Failed deleting node ${name}: ${errorText(deleted.error)}`
  yield* recordEvent(node, 'Warning', 'DeletingNodeFailed', message)
  return { what: 'The node could not be deleted', error: deleted.error }
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? ''
}
