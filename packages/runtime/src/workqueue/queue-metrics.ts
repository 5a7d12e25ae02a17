import type { Clock, Labels, MetricsRegistry } from '@gyropilot/foundation'

/** `10e-9 * 10^k` as binary floating point gives it: dashboards select on the `le` texts, `9.999999999999999e-06` among them. */
const WORKQUEUE_BUCKETS: readonly number[] = exponentialBuckets(10e-9, 10, 10)

/** controller-runtime's: two more, to 1000 s. */
const CONTROLLER_BUCKETS: readonly number[] = exponentialBuckets(10e-9, 10, 12)

/** What a queue reports of itself. Priorities count only in the form with a controller label; the plain queue has none. */
export interface QueueMetrics {
  added(key: string, priority?: number): void
  taken(key: string, priority?: number): void
  /** A waiting key has another priority now. */
  moved(fromPriority: number, toPriority: number): void
  done(key: string): void
  /** Keys can be added for later: the queue shows how many were. */
  mayRetry(): void
  retried(): void
  stop(): void
}

export const noQueueMetrics: QueueMetrics = {
  added() {},
  taken() {},
  moved() {},
  done() {},
  mayRetry() {},
  retried() {},
  stop() {},
}

/**
 * The workqueue_* metrics of the queue called `name`. Queues of one name share their series: depth and counters add up.
 * The two gauges of unfinished work are computed at each exposition and not, as upstream, every 500 ms: what is read is
 * never older, and a process on virtual time has no timer per queue. After `stop` they keep their last value.
 * With `controller` the series have controller-runtime's labels: one registry can hold one of the two forms.
 */
export function queueMetrics(
  registry: MetricsRegistry,
  name: string,
  clock: Clock,
  controller?: string,
): QueueMetrics {
  const families = workqueueFamilies(registry, controller !== undefined)
  const labels: Labels = controller === undefined ? { name } : { name, controller }
  const depthLabels = (priority: number | undefined): Labels =>
    controller === undefined ? labels : { ...labels, priority: priority?.toString() ?? '' }
  const addedAt = new Map<string, number>()
  const takenAt = new Map<string, number>()
  let stopped = false

  if (controller === undefined) families.depth.add(0, labels)
  startAtZero(families, labels)

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
    added(key, priority) {
      families.adds.increment(labels)
      families.depth.add(1, depthLabels(priority))
      if (!addedAt.has(key)) addedAt.set(key, clock.monotonicMs())
    },
    taken(key, priority) {
      const nowMs = clock.monotonicMs()
      families.depth.add(-1, depthLabels(priority))
      takenAt.set(key, nowMs)
      const sinceMs = addedAt.get(key)
      if (sinceMs === undefined) return
      families.queueDuration.observe((nowMs - sinceMs) / 1000, labels)
      addedAt.delete(key)
    },
    moved(fromPriority, toPriority) {
      families.depth.add(-1, depthLabels(fromPriority))
      families.depth.add(1, depthLabels(toPriority))
    },
    done(key) {
      const startMs = takenAt.get(key)
      if (startMs === undefined) return
      families.workDuration.observe((clock.monotonicMs() - startMs) / 1000, labels)
      takenAt.delete(key)
    },
    mayRetry() {
      families.retries.increment(labels, 0)
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

/** What a queue reports whose items are handed out one at a time, in their order, and never twice. */
export interface SequenceMetrics {
  /** Answers when it was added, for `taken`. */
  added(): number
  taken(addedAtMs: number): void
  done(): void
  stop(): void
}

/** The same metrics, without a look-up by key for each item. Nothing is tried again, and the queue shows so: upstream's could. */
export function sequenceMetrics(
  registry: MetricsRegistry,
  name: string,
  clock: Clock,
): SequenceMetrics {
  const families = workqueueFamilies(registry, false)
  const labels: Labels = { name }
  let takenAtMs: number | undefined
  let stopped = false
  families.depth.add(0, labels)
  families.retries.increment(labels, 0)
  startAtZero(families, labels)
  const updateUnfinished = (): void => {
    if (stopped) return
    const runningMs = takenAtMs === undefined ? 0 : clock.monotonicMs() - takenAtMs
    families.unfinished.set(runningMs / 1000, labels)
    families.longestRunning.set(runningMs / 1000, labels)
  }
  registry.onCollect(updateUnfinished)
  return {
    added() {
      families.adds.increment(labels)
      families.depth.add(1, labels)
      return clock.monotonicMs()
    },
    taken(addedAtMs) {
      takenAtMs = clock.monotonicMs()
      families.depth.add(-1, labels)
      families.queueDuration.observe((takenAtMs - addedAtMs) / 1000, labels)
    },
    done() {
      if (takenAtMs === undefined) return
      families.workDuration.observe((clock.monotonicMs() - takenAtMs) / 1000, labels)
      takenAtMs = undefined
    },
    stop() {
      updateUnfinished()
      stopped = true
    },
  }
}

function startAtZero(families: ReturnType<typeof workqueueFamilies>, labels: Labels): void {
  families.adds.increment(labels, 0)
  families.queueDuration.initialize(labels)
  families.workDuration.initialize(labels)
  families.unfinished.set(0, labels)
  families.longestRunning.set(0, labels)
}

function workqueueFamilies(registry: MetricsRegistry, withController: boolean) {
  const labels = withController ? ['name', 'controller'] : ['name']
  const options = { labels, stability: 'BETA' } as const
  const buckets = withController ? CONTROLLER_BUCKETS : WORKQUEUE_BUCKETS
  return {
    depth: registry.gauge({
      ...options,
      labels: withController ? [...labels, 'priority'] : labels,
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
      buckets,
    }),
    workDuration: registry.histogram({
      ...options,
      name: 'workqueue_work_duration_seconds',
      help: 'How long in seconds processing an item from workqueue takes.',
      buckets,
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
function exponentialBuckets(start: number, factor: number, count: number): number[] {
  const bounds: number[] = []
  for (let bound = start; bounds.length < count; bound *= factor) bounds.push(bound)
  return bounds
}
