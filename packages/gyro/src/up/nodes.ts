import { resources } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { isControllerEnabled, knownControllers } from '@gyropilot/manager/controller-names'

/** Taints with which nodes begin. */
const FIRST_TAINTS = [
  'node.kubernetes.io/not-ready',
  'node.cloudprovider.kubernetes.io/uninitialized',
]
const SHORTEST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 500
/** Somebody else's controllers may be slow, or absent: then the nodes are shown as they are. */
const LONGEST_WAIT_MS = 10_000

/** Whether managers with these items of --controllers take the first taint of nodes away; else nobody does. */
export function takesFirstTaints(items: readonly string[]): boolean {
  const known = knownControllers.find(({ name }) => name === 'node-lifecycle-controller')
  return known !== undefined && isControllerEnabled(known, items)
}

/**
 * Resolves when the nodes take pods: a controller takes the taint away with which every node begins. Pods that are made
 * earlier would all go to the first node that is rid of it.
 */
export async function takingPods(client: Client, clock: Clock): Promise<void> {
  const startedMs = clock.monotonicMs()
  let pauseMs = SHORTEST_PAUSE_MS
  while (clock.monotonicMs() - startedMs < LONGEST_WAIT_MS) {
    const { items } = await client.resource(resources.nodes).list({ resourceVersion: '0' })
    if (!items.some(({ spec }) => spec?.taints?.some(({ key }) => FIRST_TAINTS.includes(key))))
      return
    await sleep(clock, pauseMs)
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
}
