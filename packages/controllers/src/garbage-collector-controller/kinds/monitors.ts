import { apiVersionOf } from '@gyropilot/api'
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { lastStateOf } from '@gyropilot/runtime'
import type { EventHandler, InformerFactory } from '@gyropilot/runtime'
import {
  UNCOLLECTED_RESOURCES,
  withoutResources,
} from '../../monitor-support/monitored-resources.ts'
import type { MonitoredResources } from '../../monitor-support/monitored-resources.ts'
import { Monitors } from '../../monitor-support/monitors.ts'
import type { GraphEvent } from '../graph/dependency-graph.ts'
import { identityOf } from '../graph/identity.ts'

/** The informers that feed the graph, one for each monitored resource. */
export class GraphMonitors extends Monitors {
  constructor(informers: InformerFactory, onEvent: (event: GraphEvent) => void) {
    super({
      informer: (type) => informers.informer(type),
      start: (signal) => informers.start(signal),
      handler: (type) => graphEvents(type, onEvent),
      // The graph needs no reminders: what failed is in a queue.
      resyncPeriodMs: 0,
    })
  }

  override update(resources: MonitoredResources, signal: AbortSignal): void {
    super.update(withoutResources(resources, UNCOLLECTED_RESOURCES), signal)
  }
}

/** Turns what an informer tells into graph events. Names are reused, uids are not: another uid is another object. */
function graphEvents(
  type: ResourceType,
  onEvent: (event: GraphEvent) => void,
): EventHandler<KubernetesObject> {
  const kind = { apiVersion: apiVersionOf(type), kind: type.kind }
  return {
    onAdd: (object) => onEvent({ kind: 'add', identity: identityOf(object, kind), object }),
    onUpdate(previous, object) {
      const identity = identityOf(object, kind)
      if (previous.metadata?.uid === object.metadata?.uid) {
        onEvent({ kind: 'update', identity, object, previous })
        return
      }
      onEvent({ kind: 'delete', identity: identityOf(previous, kind) })
      onEvent({ kind: 'add', identity, object })
    },
    onDelete(deleted) {
      const object = lastStateOf(deleted)
      if (object !== undefined) onEvent({ kind: 'delete', identity: identityOf(object, kind) })
    },
  }
}
