/**
 * What a process finds that begins while volumes are attached.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Sync, Start. State only.
 */
import type { Node, PersistentVolume, VolumeAttachment } from '@gyropilot/api'
import { isAttachable, specOfVolume } from '../volume-support/volume-spec.ts'
import type { VolumeSpec } from '../volume-support/volume-spec.ts'
import type { ActualWorld } from './actual-world.ts'
import { MANAGED_ANNOTATION } from './config.ts'
import type { DesiredWorld } from './desired-world.ts'
import type { Populator } from './populator.ts'

interface Worlds {
  readonly desired: DesiredWorld
  readonly actual: ActualWorld
}

interface Found {
  readonly nodes: readonly Node[]
  readonly attachments: readonly VolumeAttachment[]
  volumeNamed(name: string): PersistentVolume | undefined
}

/** The annotation counts, whatever it says; where it goes away later, the node stays managed. */
export function nodeSeen({ desired, actual }: Worlds, { metadata, status }: Node): void {
  const nodeName = metadata?.name ?? ''
  if (metadata?.annotations?.[MANAGED_ANNOTATION] !== undefined) desired.manage(nodeName)
  actual.nodeUses(nodeName, status?.volumesInUse ?? [])
}

/** Without what pods desire, which takes more than a turn where there are many. */
export function reconstruct(
  worlds: Worlds,
  found: Found,
  populator: Pick<Populator, 'driverNamed'>,
): void {
  const { actual } = worlds
  // 1.
  for (const node of found.nodes) {
    const nodeName = node.metadata?.name ?? ''
    for (const { name } of node.status?.volumesAttached ?? []) actual.attached(name, nodeName)
    nodeSeen(worlds, node)
  }
  // 2.
  for (const { spec } of found.attachments) {
    const volume = found.volumeNamed(spec.source.persistentVolumeName ?? '')
    const resolved = volume && attachableSpecOf(volume, populator)
    if (resolved === undefined || actual.get(resolved.uniqueName, spec.nodeName) !== undefined)
      continue
    actual.uncertain(resolved.uniqueName, spec.nodeName, resolved)
  }
}

/** 3.: once every pod was seen. */
export function giveSpecsToAttached({ desired, actual }: Worlds): void {
  for (const volumeName of desired.volumeNames()) {
    for (const { nodeName, spec } of desired.attachmentsOf(volumeName)) {
      if (actual.get(volumeName, nodeName)?.isConfirmed === true)
        actual.attached(volumeName, nodeName, spec)
    }
  }
}

/** Undefined: nothing can be said of it, or nobody attaches it (any more); its VolumeAttachment is left alone. */
function attachableSpecOf(
  volume: PersistentVolume,
  { driverNamed }: Pick<Populator, 'driverNamed'>,
): VolumeSpec | undefined {
  try {
    const spec = specOfVolume(volume)
    return spec !== undefined && isAttachable(spec, driverNamed) ? spec : undefined
  } catch {
    return undefined
  }
}
