import { resources } from '@gyropilot/api'
import type { Lease } from '@gyropilot/api'
import type { LeaderElectionOptions } from './leader-election.ts'
import type { Runnable } from './runnable.ts'

export const LEASE: LeaderElectionOptions = {
  id: 'website-operator',
  namespace: 'default',
  identity: 'me',
}

/** Runnables that write down when they start and end. */
export function diary(entries: string[] = []) {
  return {
    entries,
    runnable: (name: string, more: Partial<Runnable> = {}): Runnable => ({
      async start(signal) {
        entries.push(`${name} starts`)
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        entries.push(`${name} ends`)
      },
      ...more,
    }),
  }
}

/** Of the Lease. */
export const holder = (server: { get: Function }): string | null | undefined =>
  (server.get(resources.leases, 'default', 'website-operator') as Lease | undefined)?.spec
    ?.holderIdentity
