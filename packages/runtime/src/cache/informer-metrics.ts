import type { ResourceType } from '@gyropilot/api'
import type { MetricsRegistry } from '@gyropilot/foundation'

/** What one informer reports of itself. */
export interface InformerMetrics {
  /** `current` is asked at each exposition. */
  observe(current: () => { readonly queued: number; readonly resourceVersion: string }): void
  processed(durationMs: number): void
}

const LATENCY_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** informer_* series of the informer of `type` in the factory called `name`. */
export function informerMetrics(
  registry: MetricsRegistry,
  name: string,
  type: ResourceType,
): InformerMetrics {
  const options = { labels: ['name', 'group', 'version', 'resource'], stability: 'ALPHA' } as const
  // Upstream's informers know a kind and put an s behind it: endpointss, storageclasss.
  const resource = `${type.kind.toLowerCase()}s`
  const labels = { name, group: type.group, version: type.version, resource }
  const queued = registry.gauge({
    ...options,
    name: 'informer_queued_items',
    help: 'Number of items currently queued in the FIFO.',
  })
  const latency = registry.histogram({
    ...options,
    name: 'informer_processing_latency_seconds',
    help: 'Time taken to process events after popping from the queue.',
    buckets: LATENCY_BUCKETS,
  })
  const storeVersion = registry.gauge({
    ...options,
    name: 'informer_store_resource_version',
    help: 'The 15 least significant digits of the resource version of the store.',
  })
  queued.set(0, labels)
  return {
    observe(current) {
      registry.onCollect(() => {
        const now = current()
        queued.set(now.queued, labels)
        const digits = Number(now.resourceVersion.slice(-15))
        if (now.resourceVersion !== '' && Number.isFinite(digits)) storeVersion.set(digits, labels)
      })
    },
    processed: (durationMs) => latency.observe(durationMs / 1000, labels),
  }
}
