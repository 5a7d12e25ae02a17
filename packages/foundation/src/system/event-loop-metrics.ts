import type { MetricsRegistry } from '../metrics.ts'

const EVERY_MS = 20
const BUCKETS_SECONDS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]

/**
 * How late a timer of 20 ms came: while one turn of the event loop goes on, nothing else does, no lease is renewed and no answer is
 * read. A turn of 50 ms makes one sample between 30 and 50 ms. Fifty samples a second, a thousandth of a core; they do not keep a
 * process alive. `nowMs` is monotonic.
 */
export function exposeEventLoopMetrics(
  registry: MetricsRegistry,
  nowMs: () => number = () => performance.now(),
): void {
  const delays = registry.histogram({
    name: 'gyropilot_event_loop_delay_seconds',
    help: 'How late a timer of 20 ms came, which is how long turns of the event loop are.',
    buckets: BUCKETS_SECONDS,
  })
  let dueMs = nowMs() + EVERY_MS
  const tick = (): void => {
    const atMs = nowMs()
    delays.observe(Math.max(0, atMs - dueMs) / 1000)
    dueMs = atMs + EVERY_MS
  }
  setInterval(tick, EVERY_MS).unref()
}
