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

/** What a node has been told. */
interface Told {
  readonly resourceVersion: string
  /** Names of volumes, sorted. */
  readonly names: readonly string[]
}

export class NodeStatuses {
  readonly #options: NodeStatusesOptions
  readonly #backoff: KeyedBackoff
  /** What the last writes left: caches may not have seen those yet. */
  readonly #written = new Map<string, Told>()

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
      this.forget(nodeName)
      return true
    }
    if (isSame(this.#newest(nodeName, cached).names, names)) return true
    const told = await perform(tell(cached, names))
    const isGone = nodeNamed(nodeName) === undefined
    if (told.ok && !isGone) {
      this.#written.set(nodeName, toldOf(told.object))
      this.#backoff.reset(nodeName)
      return true
    }
    if (told.ok || isNotFound(told.error)) {
      this.forget(nodeName)
      return true
    }
    actual.statusNeeded(nodeName)
    this.#backoff.next(nodeName)
    onError(told.error, nodeName)
    return false
  }

  #newest(nodeName: string, cached: Node): Told {
    const told = toldOf(cached)
    const written = this.#written.get(nodeName)
    if (written === undefined) return told
    if (compareResourceVersions(written.resourceVersion, told.resourceVersion) > 0) return written
    this.#written.delete(nodeName)
    return told
  }

  /** The node is gone. */
  forget(nodeName: string): void {
    this.#options.actual.forgetReport(nodeName)
    this.#written.delete(nodeName)
    this.#backoff.reset(nodeName)
  }
}

function toldOf({ metadata, status }: Node): Told {
  const names = (status?.volumesAttached ?? []).map(({ name }) => name).toSorted(compareStrings)
  return { resourceVersion: metadata?.resourceVersion ?? '', names }
}

function isSame(told: readonly string[], names: readonly string[]): boolean {
  return told.length === names.length && told.every((name, index) => name === names[index])
}

/** The whole list: what others wrote into it goes. */
function* tell(node: Node, names: readonly string[]): Reconcile<Outcome<Node>> {
  const volumes = names.map((name) => ({ devicePath: '', name }))
  const value = { status: { volumesAttached: volumes.length === 0 ? null : volumes } }
  return yield* write(patch(resources.nodes, node, { type: 'strategic', value }, 'status'))
}
