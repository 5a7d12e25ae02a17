/** Keeps the monitors in step with what the server serves. Contract: docs/behaviour/controllers/garbage-collector-controller.md, Discovery loop. */
import { discover } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { sleep, withDeadline } from '@gyropilot/foundation'
import type { Clock, Counter, Logger } from '@gyropilot/foundation'
import {
  resourcesWithVerbs,
  sameResources,
  withKeptResources,
} from '../../monitor-support/monitored-resources.ts'
import type { MonitoredResources } from '../../monitor-support/monitored-resources.ts'
import { DISCOVERY_PERIOD_MS, MONITOR_SYNC_TIMEOUT_MS } from '../config.ts'
import type { GraphMonitors } from './monitors.ts'
import { kindLookup } from './served-kinds.ts'
import type { KindLookup } from './served-kinds.ts'

interface DiscoverySyncOptions {
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  readonly monitors: GraphMonitors
  readonly failures: Counter
}

export class DiscoverySync {
  readonly #options: DiscoverySyncOptions
  #accepted: MonitoredResources = new Map()
  #typeOf: KindLookup = () => undefined

  constructor(options: DiscoverySyncOptions) {
    this.#options = options
  }

  /** By the last successful discovery. */
  typeOf: KindLookup = (kind, versions) => this.#typeOf(kind, versions)

  /** At once and then every period, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options
    while (!signal.aborted) {
      try {
        await this.sync(signal)
      } catch (error) {
        if (signal.aborted) return
        this.#failed(error, 'Failed to sync resource monitors')
        logger.verbosity(2).info('Resource monitors are left as they are')
      }
      await sleep(clock, DISCOVERY_PERIOD_MS, signal).catch(() => {})
    }
  }

  /** One round. Rejects when nothing could be read or some monitors could not be added. */
  async sync(signal: AbortSignal): Promise<void> {
    const { client, clock, logger, monitors } = this.#options
    const discovered = await discover(client, signal)
    // 1., 2.
    const deletable = resourcesWithVerbs(discovered, ['delete', 'list', 'watch'])
    const resources = withKeptResources(deletable, discovered, this.#accepted, (type) =>
      monitors.isSynced(type),
    )
    if (resources.size === 0) throw new Error('no resources reported by discovery')
    if (discovered.failed.size > 0) {
      const failed = [...discovered.failed.keys()]
      logger.info('Failed to discover some groups', { groups: failed.toSorted().join(', ') })
    }
    this.#typeOf = kindLookup(discovered)
    // 3.
    if (sameResources(this.#accepted, resources)) return
    // 4.
    logger.verbosity(2).info('Syncing garbage collector with updated resources from discovery', {
      resources: resources.size,
    })
    monitors.update(resources, signal)
    // 5.
    const deadline = withDeadline(clock, MONITOR_SYNC_TIMEOUT_MS, signal)
    const synced = await monitors.whenSynced(deadline.signal)
    deadline.dispose()
    if (signal.aborted) return
    if (!synced) {
      this.#failed(
        new Error('timed out waiting for caches to sync'),
        'Some monitors have not synced',
      )
    }
    this.#accepted = resources
  }

  #failed(error: unknown, message: string): void {
    this.#options.failures.increment()
    this.#options.logger.error(error, message)
  }
}
