/** What is written on the volumes of a cluster. It outlives pods and nodes, and ends with the process or with its volume. */
import type { PersistentVolume, Volume } from '@gyropilot/api'
import { FileStore, Quota } from '../files/file-store.ts'

/** Of one volume, whatever size it was asked to have: its bytes are in the memory of this process. */
const MOST_BYTES = 64 * 2 ** 20

export class VolumeData {
  readonly #stores = new Map<string, FileStore>()

  /** Made empty at the first call. */
  of(place: string): FileStore {
    let store = this.#stores.get(place)
    if (store === undefined) {
      store = new FileStore(new Quota(MOST_BYTES))
      this.#stores.set(place, store)
    }
    return store
  }

  /** Nothing can bring it back. */
  destroy(place: string): void {
    this.#stores.get(place)?.drop()
    this.#stores.delete(place)
  }
}

/** Where the bytes of a volume lie: two volumes of one place show the same files. `nodeName` is who looks. */
export function placeOf({ metadata, spec }: PersistentVolume, nodeName: string): string {
  if (spec?.csi) return `csi ${spec.csi.driver} ${spec.csi.volumeHandle}`
  if (spec?.nfs) return `nfs ${spec.nfs.server} ${spec.nfs.path}`
  const path = spec?.hostPath?.path ?? spec?.local?.path
  return path === undefined ? `volume ${metadata?.uid}` : `node ${nodeName} ${path}`
}

/** The same of a volume that a pod names without a claim; undefined: it is the pod's own. */
export function sharedPlaceOf({ hostPath, nfs }: Volume, nodeName: string): string | undefined {
  return hostPath || nfs
    ? placeOf({ spec: { ...(hostPath ? { hostPath } : {}), ...(nfs ? { nfs } : {}) } }, nodeName)
    : undefined
}
