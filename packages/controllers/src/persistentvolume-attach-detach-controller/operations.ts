/**
 * Attaches and detaches one volume, and verifies those of a node. What takes time waits here; nothing of it is remembered here.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, CSI operations, Verify.
 */
import { resources } from '@gyropilot/api'
import type { Node, VolumeAttachment } from '@gyropilot/api'
import { isAlreadyExists, isNotFound } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import { create, getLive, remove, wait, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import type { CsiVolume } from '../volume-support/csi-translation.ts'
import { CSI_PLUGIN } from '../volume-support/volume-spec.ts'
import type { VolumeSpec } from '../volume-support/volume-spec.ts'
import {
  DRIVER_WAIT_MS,
  FIRST_POLL_MS,
  LONGEST_POLL_MS,
  POLL_GROWTH,
  POLL_JITTER,
} from './config.ts'
import {
  attachProgress,
  attachmentName,
  detachProgress,
  detachableOf,
  newAttachment,
} from './csi-attachment.ts'
import type { Progress } from './csi-attachment.ts'

/** What operations know besides their volume. */
export interface Surroundings {
  /** From the cache. */
  attachmentNamed(name: string): VolumeAttachment | undefined
  /** From 0 to 1. */
  random(): number
}

/** Answers why the volume could not be attached; undefined: it is. */
export function* attachVolume(
  { csi, source }: VolumeSpec,
  nodeName: string,
  surroundings: Surroundings,
): Reconcile<string | undefined> {
  if (csi === undefined) return undefined
  const name = attachmentName(csi, nodeName)
  if (surroundings.attachmentNamed(name) === undefined) {
    const attachment = newAttachment(csi, nodeName, source)
    const made = yield* write(create(resources.volumeattachments, attachment))
    if (!made.ok && !isAlreadyExists(made.error))
      return `${CSI_PLUGIN}: attacher.Attach failed: ${errorText(made.error)}`
  }
  const progress = (): Progress => attachProgress(surroundings.attachmentNamed(name))
  return yield* waitForDriver('attach', csi, progress, surroundings)
}

/** Answers why the volume could not be detached; undefined: it is. With `isSafe` the node is not asked first. */
export function* detachVolume(
  volumeName: string,
  nodeName: string,
  isSafe: boolean,
  surroundings: Surroundings,
): Reconcile<string | undefined> {
  if (!isSafe) {
    const found = yield* getLive(resources.nodes, undefined, nodeName)
    const refusal = unsafeReason(volumeName, found)
    if (refusal !== undefined) return refusal
  }
  const detachable = detachableOf(volumeName)
  if (detachable === undefined || detachable.kind === 'nothing') return undefined
  if (detachable.kind === 'unreadable') return detachable.reason
  const { csi } = detachable
  const name = attachmentName(csi, nodeName)
  const removed = yield* write(remove(resources.volumeattachments, { metadata: { name } }))
  if (!removed.ok) return isNotFound(removed.error) ? undefined : errorText(removed.error)
  const progress = (): Progress => detachProgress(surroundings.attachmentNamed(name))
  return yield* waitForDriver('detach', csi, progress, surroundings)
}

/** A node that is gone uses nothing. */
function unsafeReason(volumeName: string, found: Outcome<Node>): string | undefined {
  if (!found.ok) return isNotFound(found.error) ? undefined : errorText(found.error)
  const isUsed = found.object.status?.volumesInUse?.includes(volumeName) === true
  return isUsed ? 'the node says that it still uses the volume' : undefined
}

function* waitForDriver(
  operation: 'attach' | 'detach',
  { driver, handle }: CsiVolume,
  progress: () => Progress,
  { random }: Surroundings,
): Reconcile<string | undefined> {
  let leftMs = DRIVER_WAIT_MS
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(pollMs * POLL_GROWTH, LONGEST_POLL_MS)) {
    const pauseMs = Math.round(pollMs * (1 + POLL_JITTER * random()))
    if (leftMs <= pauseMs) {
      yield* wait(leftMs)
      return `timed out waiting for external-attacher of ${driver} CSI driver to ${operation} volume ${handle}`
    }
    leftMs -= pauseMs
    yield* wait(pauseMs)
    const now = progress()
    if (now.kind === 'done') return undefined
    if (now.kind === 'failed') return now.reason
  }
}

/** Of volumes that should be attached to the node, those that are not. Those of plugins without drivers are. */
export function* missingAttachments(
  nodeName: string,
  volumes: readonly VolumeSpec[],
  isAttachable: (spec: VolumeSpec) => boolean,
  { attachmentNamed }: Surroundings,
): Reconcile<readonly VolumeSpec[]> {
  const missing: VolumeSpec[] = []
  for (const spec of volumes) {
    if (spec.csi === undefined || !isAttachable(spec)) continue
    const name = attachmentName(spec.csi, nodeName)
    const cached = attachmentNamed(name)
    if (cached !== undefined) {
      if (cached.status?.attached !== true) missing.push(spec)
      continue
    }
    const live = yield* getLive(resources.volumeattachments, undefined, name)
    // A server that does not answer says nothing of the volume.
    if (live.ok ? live.object.status?.attached !== true : isNotFound(live.error)) missing.push(spec)
  }
  return missing
}
