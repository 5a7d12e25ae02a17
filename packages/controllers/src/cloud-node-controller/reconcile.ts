/** One sync of a node. Step numbers are those of docs/behaviour/controllers/cloud-node-controller.md, Initialisation. */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { isConflict } from '@gyropilot/client'
import type { CloudProvider, InstanceMetadata } from '@gyropilot/cloud-provider'
import { errorText } from '@gyropilot/foundation'
import type { Logger } from '@gyropilot/foundation'
import { currentTimeMs, notFound, recordEvent, update, wait, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { PROVIDED_IP } from './config.ts'
import { initialized, isUninitialized } from './initialize.ts'
import { instanceMetadataOf } from './instance-metadata.ts'
import type { CloudNodeMetrics } from './metrics.ts'
import { mirrorLabels } from './mirror-labels.ts'
import { addressesForProvidedIp } from './provided-ip.ts'
import { updateAddresses } from './update-addresses.ts'

const TRIES = 20
const PAUSE_MS = 50

export interface Observed {
  readonly node: Node
  /** The node as the cache has it by then. */
  readonly again: () => Node | undefined
  readonly provider: CloudProvider
  readonly metrics: CloudNodeMetrics
  readonly logger: Logger
}

export function* reconcile(observed: Observed): Reconcile {
  const { node } = observed
  if (isUninitialized(node)) return yield* initialize(observed)
  const error = yield* mirrorLabels(node)
  return error === undefined ? undefined : { error }
}

function* initialize({ node, again, provider, metrics, logger }: Observed): Reconcile {
  // 1.
  const found = yield* instanceMetadataOf(node, provider)
  const name = nameOf(node)
  if (!found.ok) return because(`failed to get instance metadata for node ${name}`, found.error)
  if (found.object === undefined) return
  // 2.
  try {
    checkProvidedIp(node, found.object)
  } catch (error) {
    const what = `failed to get node modifiers from cloud provider: provided node ip for node ${JSON.stringify(name)} is not valid`
    return because(what, error)
  }
  // 3. and 4.
  const written = yield* writeInitialized(node, again, found.object)
  if (!written.ok) return { error: written.error }
  metrics.taintRemoved(node, yield* currentTimeMs())
  // 5. The taint is gone: what goes wrong with addresses is made good by the timer.
  const error = yield* updateAddresses(written.object, found.object.nodeAddresses)
  if (error !== undefined) logger.error(error, 'Addresses could not be written', { node: name })
  yield* recordEvent(node, 'Normal', 'Synced', 'Node synced successfully')
  metrics.synced(node, yield* currentTimeMs())
}

function checkProvidedIp({ metadata }: Node, { nodeAddresses = [] }: InstanceMetadata): void {
  const provided = metadata?.annotations?.[PROVIDED_IP]
  if (provided !== undefined) addressesForProvidedIp(provided, nodeAddresses)
}

function* writeInitialized(
  node: Node,
  again: () => Node | undefined,
  metadata: InstanceMetadata,
): Reconcile<Outcome<Node>> {
  let current = node
  for (let attempt = 1; ; attempt++) {
    const wanted = initialized(current, metadata)
    const written = yield* write(update(resources.nodes, wanted))
    if (written.ok || !isConflict(written.error) || attempt === TRIES) return written
    yield* wait(PAUSE_MS)
    const cached = again()
    // A namesake is another machine: what was asked is not true of it.
    if (cached === undefined || cached.metadata?.uid !== node.metadata?.uid)
      return { ok: false, error: notFound(resources.nodes, nameOf(node)), attempted: true }
    current = cached
  }
}

function because(what: string, error: unknown): { readonly error: Error } {
  return { error: new Error(`${what}: ${errorText(error)}`, { cause: error }) }
}

function nameOf({ metadata }: Node): string {
  return metadata?.name ?? ''
}
