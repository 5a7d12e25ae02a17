import type { Clock, MetricsRegistry } from '@gyropilot/foundation'

/** `10e-9 * 10^k` as binary floating point gives it: dashboards select on the `le` texts, `9.999999999999999e-06` among them. */
export const WORKQUEUE_BUCKETS: readonly number[] = exponentialBuckets(10e-9, 10, 10)

/** What a queue reports of itself. */
export interface QueueMetrics {
  added(key: string): void
  taken(key: string): void
  done(key: string): void
  retried(): void
  stop(): void
}

export const noQueueMetrics: QueueMetrics = {
  added() {},
  taken() {},
  done() {},
  retried() {},
  stop() {},
}

/**
 * The workqueue_* metrics of the queue called `name`. Queues of one name share their series: depth and counters add up.
 * The two gauges of unfinished work are computed at each exposition and not, as upstream, every 500 ms: what is read is
 * never older, and a process on virtual time has no timer per queue. After `stop` they keep their last value.
 */
export function queueMetrics(registry: MetricsRegistry, name: string, clock: Clock): QueueMetrics {
  const families = workqueueFamilies(registry)
  const labels = { name }
  const addedAt = new Map<string, number>()
  const takenAt = new Map<string, number>()
  let stopped = false

  families.depth.add(0, labels)
  families.adds.increment(labels, 0)
  families.retries.increment(labels, 0)
  families.unfinished.set(0, labels)
  families.longestRunning.set(0, labels)

  const updateUnfinished = (): void => {
    if (stopped) return
    const nowMs = clock.monotonicMs()
    let totalMs = 0
    let longestMs = 0
    for (const startMs of takenAt.values()) {
      totalMs += nowMs - startMs
      longestMs = Math.max(longestMs, nowMs - startMs)
    }
    families.unfinished.set(totalMs / 1000, labels)
    families.longestRunning.set(longestMs / 1000, labels)
  }
  registry.onCollect(updateUnfinished)

  return {
    added(key) {
      families.adds.increment(labels)
      families.depth.add(1, labels)
      if (!addedAt.has(key)) addedAt.set(key, clock.monotonicMs())
    },
    taken(key) {
      const nowMs = clock.monotonicMs()
      families.depth.add(-1, labels)
      takenAt.set(key, nowMs)
      const sinceMs = addedAt.get(key)
      if (sinceMs === undefined) return
      families.queueDuration.observe((nowMs - sinceMs) / 1000, labels)
      addedAt.delete(key)
    },
    done(key) {
      const startMs = takenAt.get(key)
      if (startMs === undefined) return
      families.workDuration.observe((clock.monotonicMs() - startMs) / 1000, labels)
      takenAt.delete(key)
    },
    retried() {
      families.retries.increment(labels)
    },
    stop() {
      updateUnfinished()
      stopped = true
    },
  }
}

function workqueueFamilies(registry: MetricsRegistry) {
  const options = { labels: ['name'], stability: 'BETA' } as const
  return {
    depth: registry.gauge({
      ...options,
      name: 'workqueue_depth',
      help: 'Current depth of workqueue',
    }),
    adds: registry.counter({
      ...options,
      name: 'workqueue_adds_total',
      help: 'Total number of adds handled by workqueue',
    }),
    queueDuration: registry.histogram({
      ...options,
      name: 'workqueue_queue_duration_seconds',
      help: 'How long in seconds an item stays in workqueue before being requested.',
      buckets: WORKQUEUE_BUCKETS,
    }),
    workDuration: registry.histogram({
      ...options,
      name: 'workqueue_work_duration_seconds',
      help: 'How long in seconds processing an item from workqueue takes.',
      buckets: WORKQUEUE_BUCKETS,
    }),
    unfinished: registry.gauge({
      ...options,
      name: 'workqueue_unfinished_work_seconds',
      help:
        "How many seconds of work has done that is in progress and hasn't been observed by work_duration. Large values " +
        'indicate stuck threads. One can deduce the number of stuck threads by observing the rate at which this increases.',
    }),
    longestRunning: registry.gauge({
      ...options,
      name: 'workqueue_longest_running_processor_seconds',
      help: 'How many seconds has the longest running processor for workqueue been running.',
    }),
    retries: registry.counter({
      ...options,
      name: 'workqueue_retries_total',
      help: 'Total number of retries handled by workqueue',
    }),
  }
}

/** Each bound is the one before times `factor`, so that rounding errors are those of the reference. */
export function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const bounds: number[] = []
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound)
  return bounds
}
