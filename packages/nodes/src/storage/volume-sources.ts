/** What the nodes of a process know of claims and volumes: nothing is watched before a pod has a claim. */
import { resources } from '@gyropilot/api'
import type {
  CSIDriver,
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeAttachment,
} from '@gyropilot/api'
import { untilAborted } from '@gyropilot/foundation'
import type { InformerFactory, Lister } from '@gyropilot/runtime'
import { onAnyChange } from './storage-services.ts'

export interface VolumeListers {
  readonly claims: Lister<PersistentVolumeClaim>
  readonly volumes: Lister<PersistentVolume>
  readonly attachments: Lister<VolumeAttachment>
  readonly drivers: Lister<CSIDriver>
}

export class VolumeSources {
  readonly #informers: InformerFactory
  readonly #lifetime: AbortSignal
  readonly #listeners = new Set<(claim: PersistentVolumeClaim) => void>()
  #ready: Promise<VolumeListers> | undefined

  /** `lifetime`: of the informers. */
  constructor(informers: InformerFactory, lifetime: AbortSignal) {
    this.#informers = informers
    this.#lifetime = lifetime
  }

  /** Resolves when they are filled. */
  async listers(signal: AbortSignal): Promise<VolumeListers> {
    this.#ready ??= this.#watch()
    return untilAborted(this.#ready, signal)
  }

  /** Whatever claim comes or changes, from the first use of `listers` on. */
  onClaim(listener: (claim: PersistentVolumeClaim) => void): void {
    this.#listeners.add(listener)
  }

  async #watch(): Promise<VolumeListers> {
    const claims = this.#informers.informer(resources.persistentvolumeclaims)
    onAnyChange(claims, (claim) => {
      for (const listener of this.#listeners) listener(claim)
    })
    const listers = {
      claims: claims.lister,
      volumes: this.#informers.informer(resources.persistentvolumes).lister,
      attachments: this.#informers.informer(resources.volumeattachments).lister,
      drivers: this.#informers.informer(resources.csidrivers).lister,
    }
    this.#informers.start(this.#lifetime)
    await this.#informers.waitForCacheSync(this.#lifetime)
    return listers
  }
}
