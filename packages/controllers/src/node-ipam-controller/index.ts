/**
 * node-ipam-controller: gives each Node its part of the pods' addresses.
 * Contract: docs/behaviour/controllers/node-ipam-controller.md.
 */
import { formatCidr, resources } from '@gyropilot/api'
import type { Node } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import { inTurns, runKeyedController } from '@gyropilot/runtime'
import type {
  ControllerContext,
  ControllerDescriptor,
  KeyedController,
  RunnableController,
} from '@gyropilot/runtime'
import { countedWhileRunning } from '../cloud-support/running-metric.ts'
import type { ControllersConfiguration } from '../configuration.ts'
import { CidrSet } from './cidr-set.ts'
import { clusterRanges } from './cluster-ranges.ts'
import {
  CONTROLLER_NAME,
  EVENT_COMPONENT,
  LIST_PATIENCE_MS,
  LIST_PERIOD_MS,
  QUEUE_NAME,
  RUNNING_IN,
  RUNNING_NAME,
  SERVICE_ACCOUNT,
  WORKERS,
} from './config.ts'
import { rangeMetrics } from './metrics.ts'
import { NodeRanges } from './node-ranges.ts'
import { reconcile } from './reconcile.ts'
import { nodeWatch } from './watches.ts'

type Context = ControllerContext<ControllersConfiguration>

export const nodeIpamController: ControllerDescriptor<ControllersConfiguration> = {
  name: CONTROLLER_NAME,
  aliases: ['nodeipam'],
  enabledByDefault: true,
  serviceAccount: SERVICE_ACCOUNT,
  build,
}

function build(context: Context): RunnableController | undefined {
  const { clock, configuration } = context
  const { nodeIpam } = configuration
  if (!nodeIpam.allocateNodeCidrs) return undefined
  const { ranges, serviceRanges, unreadable } = clusterRanges(nodeIpam)
  for (const text of unreadable)
    context.logger.info('Unsuccessful parsing of service CIDR', { cidr: text })
  const metricsOf = rangeMetrics(context.metrics)
  const sets = ranges.map((range) => new CidrSet(range, metricsOf(formatCidr(range.cidr))))
  const nodeRanges = new NodeRanges(sets, serviceRanges)
  /** Nodes that went before they could be listed. */
  const gone = new Set<string>()
  let isListed = false
  const noteGone = (uid: string): void => void (isListed || gone.add(uid))
  const queue = runKeyedController(nodeIpamLogic(context, nodeRanges, noteGone), context)
  const nodes = context.informers.informer(resources.nodes)
  const loop: RunnableController = {
    async run(signal) {
      // The list comes after the cache, so that every later deletion is an event.
      if (!(await nodes.whenSynced(signal))) return
      const isGone = (node: Node): boolean => gone.has(node.metadata?.uid ?? '')
      await inTurns(clock, await listedNodes(context, signal), (node) => {
        const error = isGone(node) ? undefined : nodeRanges.occupy(node)
        if (error !== undefined) throw error
      })
      // What a list from a lagging server lacks, the cache may have; what is wrong with it is told by its sync.
      await inTurns(clock, nodes.lister.list(), (node) => {
        if (!isGone(node)) nodeRanges.occupy(node)
      })
      isListed = true
      gone.clear()
      await queue.run(signal)
    },
  }
  return countedWhileRunning(loop, RUNNING_NAME, context.metrics, RUNNING_IN)
}

export function nodeIpamLogic(
  { informers }: Pick<Context, 'informers'>,
  ranges: NodeRanges,
  onGone: (uid: string) => void = () => {},
): KeyedController<Node> {
  const { lister } = informers.informer(resources.nodes)
  return {
    queueName: QUEUE_NAME,
    eventComponent: EVENT_COMPONENT,
    workers: WORKERS,
    watches: [nodeWatch(ranges, onGone)],
    observe: (key) => lister.getByKey(key),
    reconcile: (node) => reconcile(node, ranges),
  }
}

/** Start-up, 7: past the cache, which may not know yet what an earlier leader handed out. */
async function listedNodes(
  { client, clock, logger }: Context,
  signal: AbortSignal,
): Promise<readonly Node[]> {
  const untilMs = clock.monotonicMs() + LIST_PATIENCE_MS
  while (!signal.aborted) {
    try {
      const nodes: Node[] = []
      // Thousands in one answer would be decoded in one turn of the event loop.
      for await (const { items } of client.resource(resources.nodes).pages({ signal }))
        nodes.push(...items)
      return nodes
    } catch (error) {
      if (signal.aborted) break
      logger.error(error, 'Failed to list all nodes')
      if (clock.monotonicMs() + LIST_PERIOD_MS > untilMs)
        throw new Error(
          'failed to list all nodes in 10m0s, cannot proceed without updating CIDR map',
          { cause: error },
        )
    }
    await sleep(clock, LIST_PERIOD_MS, signal).catch(() => {})
  }
  return []
}
