/** One pod that is pending. Step numbers are those of docs/behaviour/controllers/device-taint-eviction-controller.md, Pod item. */
import { currentTimeMs } from '@gyropilot/runtime'
import type { QueueKey, Reconcile } from '@gyropilot/runtime'
import { evictPod } from './evict-pod.ts'
import type { Eviction } from './eviction.ts'
import type { Evictions } from './evictions.ts'
import type { Item } from './keys.ts'
import type { OnDeleted } from './metrics.ts'

interface PodTools {
  readonly evictions: Evictions
  readonly onDeleted: OnDeleted
  enqueue(keys: readonly QueueKey[]): void
}

export function* syncPod(
  {
    item,
    key,
    eviction,
  }: { item: Extract<Item, { kind: 'pod' }>; key: string; eviction: Eviction },
  { evictions, onDeleted, enqueue }: PodTools,
): Reconcile {
  // 2.
  const remainingMs = eviction.timeMs - (yield* currentTimeMs())
  if (remainingMs > 0) return { requeueAfterMs: remainingMs }
  // 3.-5.
  const ended = yield* evictPod(item)
  if (typeof ended === 'object') return { error: ended.error }
  // 6.
  evictions.finished(key, item.uid)
  if (ended !== 'evicted') return
  enqueue(evictions.count(eviction))
  onDeleted((yield* currentTimeMs()) - eviction.timeMs)
}
