/** Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Metrics. */
import type { Pod } from '@gyropilot/api'
import type { MetricsRegistry } from '@gyropilot/foundation'
import { storageOperationMetrics } from '../volume-support/operation-metrics.ts'
import type { OperationEnded } from '../volume-support/operation-metrics.ts'
import { isAttachable, qualifiedPluginName } from '../volume-support/volume-spec.ts'
import type { VolumeSpec } from '../volume-support/volume-spec.ts'
import type { ActualWorld } from './actual-world.ts'
import type { DesiredWorld } from './desired-world.ts'
import type { ForceReason } from './next-step.ts'
import type { Populator } from './populator.ts'

/** The plugin of operations that concern several. */
export const NO_PLUGIN = '<n/a>'

export interface AttachDetachMetrics {
  readonly operationEnded: OperationEnded
  forced(reason: ForceReason): void
}

interface Counted {
  readonly desired: DesiredWorld
  readonly actual: ActualWorld
  readonly populator: Pick<Populator, 'specsOf' | 'driverNamed'>
  pods(): readonly Pod[]
}

export function attachDetachMetrics(
  metrics: MetricsRegistry,
  counted: Counted,
): AttachDetachMetrics {
  const forced = metrics.counter({
    name: 'attach_detach_controller_attachdetach_controller_forced_detaches',
    help: 'Number of times the A/D Controller performed a forced detach',
    labels: ['reason'],
  })
  const inUse = metrics.gauge({
    name: 'storage_count_attachable_volumes_in_use',
    help: 'Measure number of volumes in use',
    labels: ['node', 'volume_plugin'],
  })
  const total = metrics.gauge({
    name: 'attachdetach_controller_total_volumes',
    help: 'Number of volumes in A/D Controller',
    labels: ['plugin_name', 'state'],
  })
  metrics.onCollect(() => {
    inUse.clear()
    total.clear()
    for (const { nodeName, plugin } of volumesInUse(counted))
      inUse.add(1, { node: nodeName, volume_plugin: plugin })
    for (const { plugin, state } of volumesOfWorlds(counted))
      total.add(1, { plugin_name: plugin, state })
  })
  return {
    operationEnded: storageOperationMetrics(metrics),
    forced: (reason) => forced.increment({ reason }),
  }
}

/** Attachable volumes of pods that have a node, one by one, whether the node is managed or not. */
function* volumesInUse({ pods, populator }: Counted) {
  for (const pod of pods()) {
    const { nodeName } = pod.spec ?? {}
    if (!nodeName) continue
    for (const spec of populator.specsOf(pod)) {
      if (isAttachable(spec, populator.driverNamed))
        yield { nodeName, plugin: qualifiedPluginName(spec) }
    }
  }
}

function* volumesOfWorlds({ desired, actual }: Counted) {
  const named = (spec: VolumeSpec | undefined): string =>
    spec === undefined ? NO_PLUGIN : qualifiedPluginName(spec)
  for (const volumeName of actual.volumeNames()) {
    const plugin = named(actual.specOf(volumeName))
    for (const _ of actual.attachmentsOf(volumeName))
      yield { plugin, state: 'actual_state_of_world' }
  }
  for (const volumeName of desired.volumeNames()) {
    for (const { spec } of desired.attachmentsOf(volumeName))
      yield { plugin: named(spec), state: 'desired_state_of_world' }
  }
}
