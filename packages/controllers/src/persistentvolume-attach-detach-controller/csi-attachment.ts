/**
 * VolumeAttachments: their names, and what they say of an attach, a detach, or a volume that should be attached.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, CSI operations. Pure.
 */
import { hash } from 'node:crypto'
import { isTerminating } from '@gyropilot/api'
import type { VolumeAttachment } from '@gyropilot/api'
import type { CsiVolume } from '../volume-support/csi-translation.ts'
import { CSI_PLUGIN, FC_PLUGIN, ISCSI_PLUGIN } from '../volume-support/volume-spec.ts'
import type { VolumeSpec } from '../volume-support/volume-spec.ts'

export function attachmentName({ driver, handle }: CsiVolume, nodeName: string): string {
  return `csi-${hash('sha256', `${handle}${driver}${nodeName}`, 'hex')}`
}

export function newAttachment(
  csi: CsiVolume,
  nodeName: string,
  source: VolumeSpec['source'],
): VolumeAttachment {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    metadata: { name: attachmentName(csi, nodeName) },
    spec: { attacher: csi.driver, nodeName, source },
  }
}

/** Of something that takes its time. */
export type Progress =
  | { readonly kind: 'done' }
  | { readonly kind: 'waits' }
  | { readonly kind: 'failed'; readonly reason: string }

const DONE: Progress = { kind: 'done' }
const WAITS: Progress = { kind: 'waits' }

/** One that is not in the cache may come yet, and one that somebody deleted is waited for until the time is over. */
export function attachProgress(attachment: VolumeAttachment | undefined): Progress {
  if (attachment === undefined) return WAITS
  if (isTerminating(attachment))
    return { kind: 'failed', reason: 'volume attachment is being deleted' }
  const { attached, attachError } = attachment.status ?? {}
  if (attached === true) return DONE
  return attachError ? { kind: 'failed', reason: attachError.message ?? '' } : WAITS
}

export function detachProgress(attachment: VolumeAttachment | undefined): Progress {
  if (attachment === undefined) return DONE
  const { detachError } = attachment.status ?? {}
  return detachError ? { kind: 'failed', reason: detachError.message ?? '' } : WAITS
}

/** What is to be detached, told by the unique name alone where no pod says more. */
type Detachable =
  | { readonly kind: 'csi'; readonly csi: CsiVolume }
  /** The plugin has nothing to do on this side. */
  | { readonly kind: 'nothing' }
  /** A plugin of ours, and a name that it cannot read. */
  | { readonly kind: 'unreadable'; readonly reason: string }

/** Undefined: no plugin of ours has such names. */
export function detachableOf(volumeName: string): Detachable | undefined {
  const [first, second] = volumeName.split('/', 2)
  const plugin = `${first}/${second}`
  if (plugin === ISCSI_PLUGIN || plugin === FC_PLUGIN) return { kind: 'nothing' }
  if (plugin !== CSI_PLUGIN) return undefined
  const [driver = '', handle, ...rest] = volumeName.slice(plugin.length + 1).split('^')
  if (handle !== undefined && rest.length === 0) return { kind: 'csi', csi: { driver, handle } }
  return { kind: 'unreadable', reason: `${volumeName} does not name one driver and one handle` }
}
