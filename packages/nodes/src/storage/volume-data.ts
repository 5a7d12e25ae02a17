/** What is written on the volumes of a cluster. It outlives pods and nodes, and ends with the process or with its volume. */
import type { PersistentVolume, Volume } from '@gyropilot/api'
import { FileStore, Quota } from '../files/file-store.ts'
import type { Folder } from '../files/file-store.ts'
import { absolute } from '../files/file-tree.ts'

/** Of one volume, whatever size it was asked to have: its bytes are in the memory of this process. */
const MOST_BYTES = 64 * 2 ** 20
/** Of a folder of a machine, as commands there write files that become disks. */
const MOST_MACHINE_BYTES = 256 * 2 ** 20

const NODE_PLACE = /^node (?<node>\S+) (?<path>.*)$/s

/** Of a folder of a node's machine. */
export function nodePlace(nodeName: string, path: string): string {
  return `node ${nodeName} ${absolute(path, '') || '/'}`
}

function fill(store: FileStore, path: string, folder: Folder): void {
  for (const [name, content] of folder) {
    const at = `${path}/${name}`
    if (!(content instanceof Map)) store.set(at, content)
    else {
      store.makeFolder(at)
      fill(store, at, content)
    }
  }
}

export class VolumeData {
  readonly #stores = new Map<string, FileStore>()

  /** Made at the first call: empty, or with what commands on the machine have put into that folder of a node. */
  of(place: string): FileStore {
    let store = this.#stores.get(place)
    if (store === undefined) {
      const { node, path = '' } = NODE_PLACE.exec(place)?.groups ?? {}
      store = new FileStore(new Quota(node === undefined ? MOST_BYTES : MOST_MACHINE_BYTES))
      this.#stores.set(place, store)
      const made = node && path !== '/' && this.#stores.get(nodePlace(node, '/'))?.get(path)
      if (made instanceof Map) fill(store, '', made)
    }
    return store
  }

  /** Something new and empty is there. */
  renew(place: string): void {
    this.forget(place)
    this.#stores.set(place, new FileStore(new Quota(MOST_BYTES)))
  }

  /** From now on both show the files of the second. */
  share(place: string, other: string): void {
    this.#stores.set(place, this.of(other))
  }

  /** Folders of a node that anybody has used by their paths; that of the whole machine is ''. */
  *foldersOf(nodeName: string): Generator<readonly [string, FileStore]> {
    for (const [place, store] of this.#stores) {
      const { node, path } = NODE_PLACE.exec(place)?.groups ?? {}
      if (node === nodeName) yield [absolute(path!, ''), store]
    }
  }

  /** Others may show the same files. */
  forget(place: string): void {
    const store = this.#stores.get(place)
    this.#stores.delete(place)
    if (![...this.#stores.values()].includes(store!)) store?.drop()
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
  return path === undefined ? `volume ${metadata?.uid}` : nodePlace(nodeName, path)
}

/** The same of a volume that a pod names without a claim; undefined: it is the pod's own. */
export function sharedPlaceOf({ hostPath, nfs }: Volume, nodeName: string): string | undefined {
  return hostPath || nfs
    ? placeOf({ spec: { ...(hostPath ? { hostPath } : {}), ...(nfs ? { nfs } : {}) } }, nodeName)
    : undefined
}
