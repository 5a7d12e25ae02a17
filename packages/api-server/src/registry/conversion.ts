/**
 * Built-in kinds that are served in more than one version or group but kept once: HorizontalPodAutoscaler (v2 and v1) and
 * Event (core and events.k8s.io), and kinds in versions that are served on request. Contract: docs/behaviour/api-server/defaulting-and-validation.md, "autoscaling".
 */
import type { ResourceInfo } from '../contracts.ts'
import { eventFromStored, eventToStored } from './event-conversion.ts'
import { autoscalerFromStored, autoscalerToStored } from './autoscaler-conversion.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { StorageMapping } from './storage-mapping.ts'

/** Versions whose fields are those of the version in which a resource is kept. */
const SAME_FIELDS: Readonly<Record<string, string>> = {
  'resource.k8s.io/v1beta2/deviceclasses': 'v1',
  'resource.k8s.io/v1beta2/resourceclaims': 'v1',
  'resource.k8s.io/v1beta2/resourceclaimtemplates': 'v1',
  'resource.k8s.io/v1beta2/resourceslices': 'v1',
  'resource.k8s.io/v1beta2/devicetaintrules': 'v1alpha3',
}

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
  const kept = SAME_FIELDS[`${group}/${version}/${resource}`]
  return kept === undefined ? undefined : renamed(`${resource}.${group}`, group, version, kept)
}

function renamed(collection: string, group: string, version: string, kept: string): StorageMapping {
  const apiVersion = `${group}/${kept}`
  const served = `${group}/${version}`
  return {
    collection,
    apiVersion,
    toStored: (draft) => ({ ...draft, apiVersion }),
    fromStored: remembered((stored) => ({ ...stored, apiVersion: served })),
  }
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
