/** What the commands of one pod wrote: gone with the container, or with the pod. */
import type { Volume } from '@gyropilot/api'
import { FileStore, Quota } from '../files/file-store.ts'

/** Far more than `kubectl cp` of sources or a dump of a small database needs, far less than a process has. */
const POD_QUOTA_BYTES = 64 * 2 ** 20

interface RunEnvironment {
  readonly containerId: string
  readonly variables: ReadonlyMap<string, string>
}

interface RunParts {
  readonly containerId: string
  /** By where they are mounted. */
  readonly stores: Map<string, FileStore>
}

export class PodStorage {
  readonly #shared: (volume: Volume) => FileStore | undefined
  readonly #quota = new Quota(POD_QUOTA_BYTES)
  readonly #volumes = new Map<string, FileStore>()
  /** Those of the volumes that lie behind a claim. */
  readonly #mounted = new Set<string>()
  /** By the container's name, of its present run. */
  readonly #roots = new Map<string, { readonly containerId: string; readonly store: FileStore }>()

  /** By the container's name, of its present run. */
  readonly #environments = new Map<string, RunEnvironment>()
  /** By the container's name, of its present run: few have any. */
  readonly #parts = new Map<string, RunParts>()

  /** `shared`: what others than this pod see too; undefined: the volume is the pod's own. */
  constructor(shared: (volume: Volume) => FileStore | undefined = () => undefined) {
    this.#shared = shared
  }

  /** What lies behind a claim: shared with whoever else has mounted it, and not of the pod's quota. */
  mount(name: string, store: FileStore): void {
    this.#volumes.set(name, store)
    this.#mounted.add(name)
  }

  isMounted(name: string): boolean {
    return this.#mounted.has(name)
  }

  volume(volume: Volume): FileStore {
    const { name } = volume
    let store = this.#volumes.get(name)
    if (store === undefined) {
      store = this.#shared(volume) ?? new FileStore(this.#quota)
      this.#volumes.set(name, store)
    }
    return store
  }

  /** What the container wrote beside its volumes. */
  ofContainer(name: string): number {
    return this.#roots.get(name)?.store.usedBytes ?? 0
  }

  ofVolume(name: string): number {
    return this.#volumes.get(name)?.usedBytes ?? 0
  }

  /** That of a run in which anything has been looked at; undefined: nothing has. */
  rootOf(name: string, containerId: string): FileStore | undefined {
    const known = this.#roots.get(name)
    return known?.containerId === containerId ? known.store : undefined
  }

  /** `fill` puts the image's files into the one of a container that has none yet. */
  root(name: string, containerId: string, fill: (store: FileStore) => void): FileStore {
    const known = this.#roots.get(name)
    if (known?.containerId === containerId) return known.store
    known?.store.drop()
    const store = new FileStore(this.#quota)
    fill(store)
    this.#roots.set(name, { containerId, store })
    return store
  }

  /** What is mounted there stays as it was when the run first asked. Without an id, and where `make` answers none, nothing is kept. */
  async part(
    name: string,
    containerId: string,
    path: string,
    make: () => Promise<FileStore | undefined>,
  ): Promise<FileStore | undefined> {
    if (containerId === '') return make()
    let parts = this.#parts.get(name)
    if (parts?.containerId !== containerId) {
      parts = { containerId, stores: new Map() }
      this.#parts.set(name, parts)
    }
    const { stores } = parts
    const made = stores.get(path) ?? (await make())
    if (made !== undefined && !stores.has(path)) stores.set(path, made)
    return stores.get(path)
  }

  /** `make` is asked once for each run; when it fails, again. Without an id: of the run that is known. */
  async environment(
    name: string,
    containerId: string,
    make: () => Promise<ReadonlyMap<string, string>>,
  ): Promise<ReadonlyMap<string, string>> {
    const known = this.#environments.get(name)
    if (known !== undefined && (containerId === '' || known.containerId === containerId))
      return known.variables
    const variables = await make()
    if (containerId !== '') this.#environments.set(name, { containerId, variables })
    return variables
  }
}
