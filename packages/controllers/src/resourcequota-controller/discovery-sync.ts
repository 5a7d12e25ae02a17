/** Keeps the monitors in step with what the server serves. Contract: docs/behaviour/controllers/resourcequota-controller.md, Discovery loop. */
import { discover } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { sleep, withDeadline } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import { sameResources, withKeptResources } from '../monitor-support/monitored-resources.ts'
import type { MonitoredResources } from '../monitor-support/monitored-resources.ts'
import type { Monitors } from '../monitor-support/monitors.ts'
import { DISCOVERY_PERIOD_MS, MONITOR_SYNC_TIMEOUT_MS } from './config.ts'
import type { PauseGate } from './pause-gate.ts'
import { quotableResources } from './quotable-resources.ts'

interface DiscoverySyncOptions {
  readonly client: Client
  readonly clock: Clock
  readonly logger: Logger
  readonly monitors: Monitors
  /** Closed while monitors change, so that nothing is counted from caches that are being filled. */
  readonly gate: PauseGate
}

export class DiscoverySync {
  readonly #options: DiscoverySyncOptions
  #accepted: MonitoredResources = new Map()

  constructor(options: DiscoverySyncOptions) {
    this.#options = options
  }

  /** At once and then every period, until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options
    while (!signal.aborted) {
      try {
        await this.sync(signal)
      } catch (error) {
        if (signal.aborted) return
        logger.error(error, 'Failed to sync resource monitors')
      }
      await sleep(clock, DISCOVERY_PERIOD_MS, signal).catch(() => {})
    }
  }

  /** One round. Rejects when nothing could be read, or when some monitors could not be added: then it is all done again. */
  async sync(signal: AbortSignal): Promise<void> {
    const { client, logger, gate } = this.#options
    const discovered = await discover(client, signal)
    const quotable = quotableResources(discovered)
    const resources = withKeptResources(quotable, discovered, this.#accepted)
    if (resources.size === 0) return
    if (discovered.failed.size > 0) {
      const failed = [...discovered.failed.keys()]
      logger.info('Failed to discover some groups', { groups: failed.toSorted().join(', ') })
    }
    if (sameResources(this.#accepted, resources)) return
    logger.verbosity(2).info('Syncing quota controller with updated resources from discovery', {
      resources: resources.size,
    })
    await gate.pauseFor(() => this.#resync(resources, signal))
  }

  async #resync(resources: MonitoredResources, signal: AbortSignal): Promise<void> {
    const { clock, logger, monitors } = this.#options
    monitors.update(resources, signal)
    this.#accepted = resources
    using deadline = withDeadline(clock, MONITOR_SYNC_TIMEOUT_MS, signal)
    const synced = await monitors.whenSynced(deadline.signal)
    if (!synced && !signal.aborted)
      logger.error(
        new Error('timed out waiting for caches to sync'),
        'Some monitors have not synced',
      )
  }
}
