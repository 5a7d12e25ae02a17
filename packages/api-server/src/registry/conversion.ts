/**
 * Built-in kinds that are served in more than one version or group but kept once: HorizontalPodAutoscaler (v2 and v1) and
 * Event (core and events.k8s.io). Contract: docs/behaviour/api-server/defaulting-and-validation.md, "autoscaling".
 */
import type { ResourceInfo } from '../contracts.ts'
import { eventFromStored, eventToStored } from './event-conversion.ts'
import { autoscalerFromStored, autoscalerToStored } from './autoscaler-conversion.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { StorageMapping } from './storage-mapping.ts'

export function conversionFor({
  group,
  version,
  resource,
}: ResourceInfo): StorageMapping | undefined {
  if (group === 'autoscaling' && resource === 'horizontalpodautoscalers') {
    const mapping = {
      collection: 'horizontalpodautoscalers.autoscaling',
      apiVersion: 'autoscaling/v2',
    }
    return version === 'v2'
      ? mapping
      : { ...mapping, toStored: autoscalerToStored, fromStored: remembered(autoscalerFromStored) }
  }
  if (group === 'events.k8s.io' && resource === 'events') {
    return {
      collection: 'events',
      apiVersion: 'v1',
      toStored: eventToStored,
      fromStored: remembered(eventFromStored),
    }
  }
  return undefined
}

/** One view per stored object, so that lists, watches and pages share it. */
function remembered(convert: (stored: Stored) => Stored): (stored: Stored) => Stored {
  const views = new WeakMap<Stored, Stored>()
  return (stored) => {
    let view = views.get(stored)
    if (view === undefined) {
      view = convert(stored)
      views.set(stored, view)
    }
    return view
  }
}
