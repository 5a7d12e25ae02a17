/**
 * Tells nodes in their status which volumes are attached to them.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Status and conditions.
 */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { compareStrings } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { KeyedBackoff, compareResourceVersions, patch, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import type { ActualWorld } from './actual-world.ts'
import { FIRST_STATUS_RETRY_MS, LONGEST_STATUS_RETRY_MS } from './config.ts'

interface NodeStatusesOptions {
  readonly actual: ActualWorld
  readonly clock: Clock
  /** From the cache. */
  nodeNamed(name: string): Node | undefined
  perform<R>(rules: Reconcile<R>): Promise<R>
  onError(error: unknown, nodeName: string): void
}

export class NodeStatuses {
  readonly #options: NodeStatusesOptions
  readonly #backoff: KeyedBackoff
  /** Nodes as the last writes left them: caches may not have seen those yet. */
  readonly #written = new Map<string, Node>()

  constructor(options: NodeStatusesOptions) {
    this.#options = options
    this.#backoff = new KeyedBackoff(options.clock, FIRST_STATUS_RETRY_MS, LONGEST_STATUS_RETRY_MS)
  }

  /** Whether the node knows what it is to be told. A node that is gone needs to know nothing. */
  async write(nodeName: string): Promise<boolean> {
    const { actual, nodeNamed, perform, onError } = this.#options
    if (!actual.isChanged(nodeName)) return true
    const cached = nodeNamed(nodeName)
    if (cached !== undefined && this.#backoff.isInBackoff(nodeName)) return false
    const names = actual.takeReport(nodeName)
    if (cached === undefined) {
      this.#forget(nodeName)
      return true
    }
    if (isToldAlready(this.#newest(nodeName, cached), names)) return true
    const told = await perform(tell(cached, names))
    if (told.ok) {
      this.#written.set(nodeName, told.object)
      this.#backoff.reset(nodeName)
      return true
    }
    if (isNotFound(told.error)) {
      this.#forget(nodeName)
      return true
    }
    actual.statusNeeded(nodeName)
    this.#backoff.next(nodeName)
    onError(told.error, nodeName)
    return false
  }

  #newest(nodeName: string, cached: Node): Node {
    const written = this.#written.get(nodeName)
    if (written === undefined) return cached
    const [ours, theirs] = [written, cached].map(({ metadata }) => metadata?.resourceVersion ?? '')
    if (compareResourceVersions(ours!, theirs!) > 0) return written
    this.#written.delete(nodeName)
    return cached
  }

  #forget(nodeName: string): void {
    this.#options.actual.forgetReport(nodeName)
    this.#written.delete(nodeName)
    this.#backoff.reset(nodeName)
  }
}

function isToldAlready({ status }: Node, names: readonly string[]): boolean {
  const told = (status?.volumesAttached ?? []).map(({ name }) => name).toSorted(compareStrings)
  return told.length === names.length && told.every((name, index) => name === names[index])
}

/** The whole list: what others wrote into it goes. */
function* tell(node: Node, names: readonly string[]): Reconcile<Outcome<Node>> {
  const volumes = names.map((name) => ({ devicePath: '', name }))
  const value = { status: { volumesAttached: volumes.length === 0 ? null : volumes } }
  return yield* write(patch(resources.nodes, node, { type: 'strategic', value }, 'status'))
}
