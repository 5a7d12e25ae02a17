/** Contract: docs/behaviour/controllers/selinux-warning-controller.md, Events. Pure. */
import { splitKey } from '@gyropilot/api'
import type { Conflict } from './volume-cache.ts'

export function conflictMessage({ property, pod, value, otherPod, otherValue }: Conflict): string {
  const end = 'If both pods land on the same node, only one of them may access the volume.'
  const sharing = 'that uses the same volume as this pod with'
  const other = splitKey(otherPod)
  if (splitKey(pod).namespace === other.namespace)
    return `${property} "${value}" conflicts with pod ${other.name} ${sharing} ${property} "${otherValue}". ${end}`
  // What is in other namespaces is not told.
  return `${property}"${value}" conflicts with another pod ${sharing} a different ${property}. ${end}`
}

export function multipleLabelsMessage(volumeName: string): string {
  return `Volume "${volumeName}" is mounted twice with different SELinux labels inside this pod`
}
