/** The addresses of all nodes, now and then. Contract: docs/behaviour/controllers/cloud-node-controller.md, Address update. */
import { resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import { sleep } from '@gyropilot/foundation'
import { InterruptedByShutdown, interpret, parallelize } from '@gyropilot/runtime'
import type { ControllerContext, Reconcile } from '@gyropilot/runtime'
import { cloudCalls } from '../cloud-support/cloud-calls.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { isUninitialized } from './initialize.ts'
import { nodeAddressesOf } from './instance-metadata.ts'
import { updateAddresses } from './update-addresses.ts'

/** Registers its informer at once; what is answered runs until the signal aborts. */
export function addressLoop(
  context: ControllerContext<ControllersConfiguration>,
  provider: CloudProvider,
): (signal: AbortSignal) => Promise<void> {
  const { client, clock, logger, configuration, informers } = context
  const { concurrentNodeSyncs, concurrentNodeStatusUpdates, nodeStatusUpdateFrequencyMs } =
    configuration.cloudNode
  const nodes = informers.informer(resources.nodes)
  const outside = cloudCalls(provider)

  /** As it is by then: of many nodes, the last has its turn long after the first. */
  async function look({ metadata }: Node, signal: AbortSignal): Promise<void> {
    const node = nodes.lister.get(undefined, metadata?.name ?? '')
    if (node === undefined) return
    const world = { client, clock, signal, outside, recordEvent() {} }
    try {
      const error = await interpret(refreshAddresses(node, provider), world)
      if (error === undefined || signal.aborted) return
      logger.error(error, 'The addresses of the node were left', { node: metadata?.name })
    } catch (error) {
      if (!(error instanceof InterruptedByShutdown)) throw error
    }
  }

  return async (signal) => {
    await nodes.whenSynced(signal)
    const atOnce = concurrentNodeStatusUpdates || concurrentNodeSyncs
    while (!signal.aborted) {
      const all = nodes.lister.list()
      await parallelize(atOnce, all.length, (index) => look(all[index]!, signal), { signal })
      await sleep(clock, nodeStatusUpdateFrequencyMs, signal).catch(() => {})
    }
  }
}

/** Answers the error, if there was one. */
function* refreshAddresses(node: Node, provider: CloudProvider): Reconcile<unknown> {
  // 1.
  if (isUninitialized(node)) return undefined
  // 2.
  const reported = yield* nodeAddressesOf(node, provider)
  return reported.ok ? yield* updateAddresses(node, reported.object) : reported.error
}
