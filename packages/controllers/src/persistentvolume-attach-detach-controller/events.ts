/** Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Events. Pure. */
import type { Pod } from '@gyropilot/api'
import type { EventRecord } from '@gyropilot/runtime'
import type { DesiredAttachment } from './desired-world.ts'
import { refusalMessage } from './multi-attach.ts'

type Told = Pick<DesiredAttachment, 'spec' | 'pods'>

export function attachedEvents({ spec, pods }: Told): readonly EventRecord[] {
  const message = `AttachVolume.Attach succeeded for volume "${spec.name}" `
  return [...pods.values()].map((regarding) => ({
    regarding,
    type: 'Normal',
    reason: 'SuccessfulAttachVolume',
    message,
  }))
}

export function attachFailedEvents({ spec, pods }: Told, reason: string): readonly EventRecord[] {
  const message = `AttachVolume.Attach failed for volume "${spec.name}" : ${reason}`
  return [...pods.values()].map((pod) => failed(pod, message))
}

/** `users`: see `refusalMessage`. */
export function refusedEvents({ spec, pods }: Told, users: readonly Pod[]): readonly EventRecord[] {
  return [...pods.values()].map((pod) =>
    failed(pod, `Multi-Attach error for volume "${spec.name}" ${refusalMessage(pod, users)}`),
  )
}

function failed(regarding: Pod, message: string): EventRecord {
  return { regarding, type: 'Warning', reason: 'FailedAttachVolume', message }
}
