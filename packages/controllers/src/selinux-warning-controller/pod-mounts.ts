/** Which volumes a pod mounts, and with which labels. Contract: docs/behaviour/controllers/selinux-warning-controller.md, Sync, step 3. Pure. */
import type { Pod } from '@gyropilot/api'
import { fileLabel } from './labels.ts'

/** Labels by name of the mounted volume, each once; none where no container asks for one. Block devices are not mounted. */
export function labelsOfMounts({ spec }: Pod): ReadonlyMap<string, readonly string[]> {
  const containers = [
    ...(spec?.initContainers ?? []),
    ...(spec?.containers ?? []),
    ...(spec?.ephemeralContainers ?? []),
  ]
  const labels = new Map<string, Set<string>>()
  for (const { volumeMounts = [], securityContext } of containers) {
    const options = securityContext?.seLinuxOptions ?? spec?.securityContext?.seLinuxOptions
    for (const { name } of volumeMounts) {
      const ofVolume = labels.get(name) ?? new Set()
      labels.set(name, ofVolume)
      if (options !== undefined) ofVolume.add(fileLabel(options))
    }
  }
  return new Map([...labels].map(([name, ofVolume]) => [name, [...ofVolume]]))
}
