/**
 * Keeps the desired world to what pods say.
 * Contract: docs/behaviour/controllers/persistentvolume-attach-detach-controller.md, Watches and keys, Populator. State only.
 */
import type { CSIDriver, Pod } from '@gyropilot/api'
import { hasLetGo } from '../volume-support/let-go.ts'
import { isAttachable, specOfPodVolume } from '../volume-support/volume-spec.ts'
import type { VolumeSources, VolumeSpec } from '../volume-support/volume-spec.ts'
import type { DesiredWorld } from './desired-world.ts'

interface PopulatorOptions extends VolumeSources {
  readonly desired: DesiredWorld
  driverNamed(name: string): CSIDriver | undefined
  podNamed(namespace: string | undefined, name: string): Pod | undefined
}

export class Populator {
  readonly driverNamed: PopulatorOptions['driverNamed']
  readonly #options: PopulatorOptions

  constructor(options: PopulatorOptions) {
    this.#options = options
    this.driverNamed = (name) => options.driverNamed(name)
  }

  /** Of the pod, what can be told now: what cannot is told by a later event, or by the next full population. */
  specsOf(pod: Pod): readonly VolumeSpec[] {
    const found: VolumeSpec[] = []
    for (const volume of pod.spec?.volumes ?? []) {
      try {
        const spec = specOfPodVolume(pod, volume, this.#options)
        if (spec !== undefined) found.push(spec)
      } catch {
        // It waits for its claim.
      }
    }
    return found
  }

  podSeen(pod: Pod): void {
    const { desired, driverNamed } = this.#options
    const { nodeName } = pod.spec ?? {}
    if (!nodeName) return
    if (hasLetGo(pod)) {
      this.podGone(pod)
      return
    }
    if (!desired.isManaged(nodeName)) return
    for (const spec of this.specsOf(pod))
      if (isAttachable(spec, driverNamed)) desired.add(pod, spec)
  }

  podGone(pod: Pod): void {
    this.#options.desired.removePod(pod.metadata?.uid ?? '')
  }

  /** 1. and 2.: pods that are gone though nobody said so, and volumes that cannot be attached any more. */
  removeStale(): void {
    const { desired, podNamed, driverNamed } = this.#options
    for (const pod of desired.pods()) {
      const { namespace, name = '', uid } = pod.metadata ?? {}
      const current = podNamed(namespace, name)
      if (current === undefined || current.metadata?.uid !== uid || hasLetGo(current))
        this.podGone(pod)
    }
    for (const volumeName of desired.volumeNames()) {
      const isOver = ({ spec }: { readonly spec: VolumeSpec }): boolean =>
        !isAttachable(spec, driverNamed)
      if (desired.attachmentsOf(volumeName).some(isOver)) desired.removeVolume(volumeName)
    }
  }
}
