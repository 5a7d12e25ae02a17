/** Follows the cluster's events and leases and tells what is worth a line. */
import { resources } from '@gyropilot/api'
import type { Event } from '@gyropilot/api'
import { StatusError, isExpired } from '@gyropilot/client'
import type { ResourceClient } from '@gyropilot/client'
import type { Cluster } from '@gyropilot/cluster/live'
import type { Clock } from '@gyropilot/foundation'
import { sleep } from '@gyropilot/foundation'
import { linesOf } from './narrator.ts'
import type { Terminal } from './terminal.ts'

const RETRY_MS = 1_000
/** Events that come within this time are told together. Short enough to be seen as at once. */
const TOGETHER_MS = 100

/** Answers what starts to tell, of all that happens from now on and until the cluster stops. */
export async function narration(
  cluster: Cluster,
  clock: Clock,
): Promise<(terminal: Terminal) => void> {
  const events = cluster.client().resource(resources.events)
  const from = await latest(events)
  return (terminal) => void narrate(events, from, clock, terminal)
}

async function latest(events: ResourceClient<Event>): Promise<string | undefined> {
  return (await events.list({ limit: 1 })).metadata.resourceVersion
}

async function narrate(
  events: ResourceClient<Event>,
  from: string | undefined,
  clock: Clock,
  terminal: Terminal,
): Promise<void> {
  let waiting: Event[] = []
  function tell(event: Event): void {
    waiting.push(event)
    if (waiting.length > 1) return
    clock.after(TOGETHER_MS, () => {
      for (const line of linesOf(waiting)) terminal.line(line)
      waiting = []
    })
  }

  let resourceVersion = from
  for (;;) {
    try {
      resourceVersion ??= await latest(events)
      for await (const change of await events.watch({ resourceVersion })) {
        if (change.type === 'ERROR') throw new StatusError(change.object)
        resourceVersion = change.object.metadata?.resourceVersion
        if (change.type === 'ADDED' || change.type === 'MODIFIED') tell(change.object)
      }
    } catch (error) {
      // The server ends the stream, or the cluster stops: either way the next try finds out. What it no longer knows is lost.
      if (isExpired(error)) resourceVersion = undefined
    }
    await sleep(clock, RETRY_MS)
  }
}
