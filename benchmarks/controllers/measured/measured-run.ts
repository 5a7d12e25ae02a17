/** What the scripts of single loops have in common: options, a client, the manager under measurement, namespaces, and their end. */
import { parseArgs } from 'node:util'
import { resources } from '@gyropilot/api'
import type { ResourceType } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { SystemClock } from '@gyropilot/foundation'
import { directClient } from './direct-client.ts'
import { MeasuredManager } from './measured-manager.ts'
import type { Cost } from './measured-manager.ts'
import { phase } from './phases.ts'

const ASK_EVERY_MS = 200

interface MeasuredRun {
  readonly client: Client
  /** One of its own for this run. */
  readonly namespace: string
  /** The number that was asked for. */
  readonly count: number
  /** From now on there is a manager. */
  startManager(): Promise<void>
  /** What the manager has cost so far. */
  cost(): Promise<Cost>
  /** See MeasuredManager. */
  stalls(): Promise<string>
  /** Prints what it takes from `act` until `isThere`, and what the manager spends on it. */
  phase(title: string, act: () => Promise<unknown>, isThere: () => Promise<boolean>): Promise<void>
}

/** Reads `--server URL --token TOKEN [--count N] -- COMMAND ARGS...`; the manager ends with `run`. */
export async function measuredRun(
  what: string,
  defaultCount: number,
  run: (of: MeasuredRun) => Promise<void>,
): Promise<void> {
  const { values, positionals: command } = parseArgs({
    allowPositionals: true,
    options: {
      server: { type: 'string', default: '' },
      token: { type: 'string', default: '' },
      count: { type: 'string', default: String(defaultCount) },
    },
  })
  const { client, close } = directClient(values.server, values.token, new SystemClock())
  const namespace = `${what}-${process.pid}`
  let manager: MeasuredManager | undefined
  await client.resource(resources.namespaces).create({ metadata: { name: namespace } })
  try {
    await run({
      client,
      namespace,
      count: Number(values.count),
      async startManager() {
        manager = await MeasuredManager.start(command, values.token)
      },
      cost: () => manager!.cost(),
      stalls: () => manager!.stalls(),
      phase: (title, act, isThere) =>
        phase(title, () => manager, act, isThere, { everyMs: ASK_EVERY_MS }),
    })
  } finally {
    await manager?.stop()
    await close()
  }
}

/** How many there are, in all namespaces unless one is named, without reading them. */
export async function countOf(
  client: Client,
  type: ResourceType,
  namespace?: string,
  labelSelector?: string,
): Promise<number> {
  if (labelSelector === undefined) {
    const { items, metadata } = await client.resource(type, namespace).list({ limit: 1 })
    return items.length + (metadata?.remainingItemCount ?? 0)
  }
  const { items } = await client.resource(type, namespace).list({ labelSelector })
  return items.length
}
