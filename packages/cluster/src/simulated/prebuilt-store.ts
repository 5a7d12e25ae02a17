/**
 * What every cluster has from its start (roles, priority classes, namespaces, the `kubernetes` service) is made once for a
 * process and copied: objects are frozen, so a copy is a list of references.
 */
import { createApiServer, createMemoryStore } from '@gyropilot/api-server'
import type { ApiServerOptions, InitialState, Store, StoredEntry } from '@gyropilot/api-server'
import { SeededRandom, VirtualClock, settle, silentLogger } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { serviceAccountKey } from './fixed-certificates.ts'

let made: Promise<InitialState> | undefined

/** A store at the state that a server's start leaves behind. The same for every seed. */
export async function prebuiltStore(clock: Clock): Promise<Store> {
  made ??= bootstrapOnce()
  return createMemoryStore(clock, await made)
}

/** What all servers of simulated clusters have in common. */
export function serverOptions(
  world: Pick<ApiServerOptions, 'clock' | 'random' | 'store'>,
): ApiServerOptions {
  return { ...world, logger: silentLogger, serviceAccountKey: serviceAccountKey() }
}

async function bootstrapOnce(): Promise<InitialState> {
  const clock = new VirtualClock({ settle })
  const store = createMemoryStore(clock)
  const random = new SeededRandom('bootstrap')
  const server = createApiServer(serverOptions({ clock, random, store }))
  await server.start()
  await server.stop(0)
  const entries: (StoredEntry & { collection: string })[] = []
  for (const collection of store.collections()) {
    const listed = store.list(collection, '')
    if (listed !== 'expired')
      entries.push(...listed.entries.map((entry) => ({ ...entry, collection })))
  }
  return { revision: store.revision, entries }
}
