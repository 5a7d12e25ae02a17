/** Which events change what must go. Contract: docs/behaviour/controllers/device-taint-eviction-controller.md, Watches and keys. */
import { resources } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { lastStateOf } from '@gyropilot/runtime'
import type { QueueKey, Watch } from '@gyropilot/runtime'
import { DEVICE_TAINT_RULES } from './device-taint-rule.ts'
import type { Evictions } from './evictions.ts'

export function watchesOf(evictions: Evictions, withRules: boolean): readonly Watch[] {
  return [
    {
      type: resources.pods,
      onAdd: (pod) => evictions.podChanged(undefined, pod),
      onUpdate: (before, pod) => evictions.podChanged(before, pod),
      onDelete(deleted) {
        const pod = lastStateOf(deleted)
        if (pod !== undefined) evictions.podDeleted(pod)
        return []
      },
    },
    watch(resources.resourceclaims, (before, after) => evictions.claimChanged(before, after)),
    watch(resources.resourceslices, (before, after) => evictions.sliceChanged(before, after)),
    ...(withRules
      ? [watch(DEVICE_TAINT_RULES, (before, after) => evictions.ruleChanged(before, after))]
      : []),
  ] as readonly Watch[]
}

function watch<T extends KubernetesObject>(
  type: ResourceType<T>,
  changed: (before: T | undefined, after: T | undefined) => readonly QueueKey[],
): Watch<T> {
  return {
    type,
    onAdd: (object) => changed(undefined, object),
    onUpdate: changed,
    onDelete(deleted) {
      const object = lastStateOf(deleted)
      return object === undefined ? [] : changed(object, undefined)
    },
  }
}
