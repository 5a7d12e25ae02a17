/** Contract: docs/behaviour/controllers/horizontal-pod-autoscaler-controller.md, Watches and keys. */
import { keyOf, resources } from '@gyropilot/api'
import type { HorizontalPodAutoscaler } from '@gyropilot/api'
import { keyOfDeleted } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'

interface AutoscalersSeen {
  seen(key: string): void
  deleted(key: string): void
}

/** Whatever happens, a key is ready one period later; one that waits already keeps its time. */
export function autoscalerWatch(
  syncPeriodMs: number,
  { seen, deleted }: AutoscalersSeen,
): Watch<HorizontalPodAutoscaler> {
  const later = (autoscaler: HorizontalPodAutoscaler) => {
    const key = keyOf(autoscaler)
    seen(key)
    return [{ key, afterMs: syncPeriodMs }]
  }
  return {
    type: resources.horizontalpodautoscalers,
    resyncPeriodMs: syncPeriodMs,
    onAdd: later,
    onUpdate: (_, current) => later(current),
    // Its key is on its way already, and finds it gone.
    onDelete(autoscaler) {
      deleted(keyOfDeleted(autoscaler))
      return []
    },
  }
}
