/** Files of one container: what its image and node give, what volumes mount, what commands wrote. In memory only. */
import { FileError, READ_ONLY } from './file-error.ts'
import { writtenAt } from './grown-bytes.ts'
import type { Attributes, FileContent, FileStore, Folder } from './file-store.ts'

export interface Mount {
  /** Absolute, without trailing slash. */
  readonly path: string
  readonly store: FileStore
  /** Shown of the store; empty: all of it. */
  readonly subPath: string
  readonly readOnly: boolean
  /** Of file system. Default: tmpfs. */
  readonly type?: string
  /** As large as its disk where nothing says otherwise. */
  readonly sizeBytes?: number | undefined
}

/** `.` and `..` resolved; always absolute, without trailing slash (the root is ''). */
export function absolute(path: string, from: string): string {
  const parts: string[] = []
  for (const part of (path.startsWith('/') ? path : `${from}/${path}`).split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') parts.pop()
    else parts.push(part)
  }
  return parts.map((part) => `/${part}`).join('')
}

interface MountStatus {
  readonly path: string
  readonly type: string
  readonly readOnly: boolean
  readonly sizeBytes: number
  readonly usedBytes: number
}

interface TreeOptions {
  readonly readOnly?: boolean
  readonly isKept?: (path: string) => boolean
  readonly umask?: number
}

interface FileStatus {
  /** Permissions with the set-group-id and sticky bits. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly isFolder: boolean
  /** Type of the file system that it is in. */
  readonly fileSystem: string
}

/** Of the disk of a node, for those who ask. */
const DISK_BYTES = 100 * 2 ** 30
/** With which what is made is 0755 and 0644, as what nobody describes is. */
const USUAL_UMASK = 0o022
const FOLDER_MODE = 0o777
const FILE_MODE = 0o666

export class FileTree {
  readonly #root: Mount
  readonly #isKept: (path: string) => boolean
  readonly #mounts: readonly Mount[]
  /** Permissions that files and folders which are made here do not get. */
  umask: number

  /** `readOnly` is the image's own, but for paths that `isKept` names: they are mounted over it. */
  constructor(
    root: FileStore,
    mounts: readonly Mount[],
    { readOnly = false, isKept = () => false, umask = USUAL_UMASK }: TreeOptions = {},
  ) {
    this.umask = umask
    this.#root = { path: '', store: root, subPath: '', readOnly, type: 'overlay' }
    this.#isKept = isKept
    this.#mounts = mounts.toSorted((a, b) => b.path.length - a.path.length)
  }

  /** The same files for a process below this one: the umask that it sets is its own. */
  forChild(): FileTree {
    const { store, readOnly } = this.#root
    return new FileTree(store, this.#mounts, {
      readOnly,
      isKept: this.#isKept,
      umask: this.umask,
    })
  }

  /** What is mounted, by path. */
  get mounts(): readonly MountStatus[] {
    return [this.#root, ...this.#mounts]
      .map(({ path, type = 'tmpfs', readOnly, sizeBytes = DISK_BYTES, store }) => ({
        path,
        type,
        readOnly,
        sizeBytes,
        usedBytes: store.usedBytes,
      }))
      .sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** Where that is mounted which holds the path. */
  mountOf(path: string): string {
    return this.#locate(absolute(path, '')).mount.path
  }

  async read(path: string): Promise<Uint8Array> {
    const entry = this.#entry(path)
    if (entry === undefined) throw new FileError('No such file or directory')
    if (entry instanceof Map) throw new FileError('Is a directory')
    return typeof entry === 'function' ? await entry() : entry
  }

  exists(path: string): boolean {
    return this.#entry(path) !== undefined
  }

  isFolder(path: string): boolean {
    return this.#entry(path) instanceof Map
  }

  /** What stands in nothing else is root's, and root's to write. */
  status(path: string): FileStatus {
    const entry = this.#entry(path)
    if (entry === undefined) throw new FileError('No such file or directory')
    const { mount, key } = this.#locate(path)
    const isFolder = entry instanceof Map
    // A folder that a mount names of a volume is made as the volume's own is.
    const known = isFolder && path === mount.path ? mount.store.attributesOf('') : {}
    const { mode, uid, gid } = { ...known, ...mount.store.attributesOf(key) }
    return {
      mode: mode ?? (isFolder ? FOLDER_MODE : FILE_MODE) & ~USUAL_UMASK,
      uid: uid ?? 0,
      gid: gid ?? 0,
      isFolder,
      fileSystem: mount.type ?? 'tmpfs',
    }
  }

  /** Of something that is there and may be written. */
  describe(path: string, attributes: Attributes): void {
    const { store, key } = this.#writable(path)
    store.describe(key, attributes)
  }

  isReadOnly(path: string): boolean {
    const { mount } = this.#locate(path)
    return mount.readOnly && !(mount === this.#root && this.#isKept(path))
  }

  /** How much more may be written there. */
  freeBytes(path: string): number {
    return this.#locate(path).mount.store.freeBytes
  }

  write(path: string, bytes: Uint8Array): void {
    const { store, key } = this.#writable(path)
    if (this.isFolder(path)) throw new FileError('Is a directory')
    if (!this.isFolder(parent(path))) throw new FileError('No such file or directory')
    const isNew = !this.exists(path)
    store.set(key, bytes)
    if (isNew && this.umask !== USUAL_UMASK) store.describe(key, { mode: FILE_MODE & ~this.umask })
  }

  /** To write: it is made when it is not there, and emptied unless it is kept. What is made for each reader stays as it is now. */
  async open(path: string, isKept: boolean): Promise<void> {
    const entry = isKept ? this.#entry(path) : undefined
    const bytes = typeof entry === 'function' ? await entry() : entry
    this.write(path, bytes instanceof Uint8Array ? bytes : new Uint8Array(0))
  }

  /**
   * Of a file that somebody has opened: from that place on, or behind all that is there. What is written to a file that was removed
   * since nobody sees. Answers where it ends.
   */
  writeAt(path: string, at: number | undefined, bytes: Uint8Array): number {
    const before = this.#entry(path)
    const from = at ?? (before instanceof Uint8Array ? before.length : 0)
    if (before instanceof Uint8Array) {
      const { store, key } = this.#writable(path)
      if (from + bytes.length - before.length > store.freeBytes)
        throw new FileError('No space left on device')
      store.set(key, writtenAt(before, from, bytes))
    }
    return from + bytes.length
  }

  /** With its parents when asked for; a folder that is there stays. */
  makeFolder(path: string, withParents: boolean): void {
    if (this.isFolder(path)) {
      if (withParents) return
      throw new FileError('File exists')
    }
    if (this.exists(path)) throw new FileError('File exists')
    if (!withParents && !this.isFolder(parent(path)))
      throw new FileError('No such file or directory')
    const { store, key } = this.#writable(path)
    if (this.umask === USUAL_UMASK) return store.makeFolder(key)
    if (!this.exists(parent(path))) this.makeFolder(parent(path), true)
    store.makeFolder(key)
    store.describe(key, { mode: FOLDER_MODE & ~this.umask })
  }

  /** A folder with all that is in it. */
  remove(path: string): void {
    const { store, key } = this.#writable(path)
    store.remove(key)
  }

  /** Names in a folder, sorted. */
  list(path: string): string[] {
    const entry = this.#entry(path)
    const names = new Set(entry instanceof Map ? entry.keys() : [])
    for (const other of this.#mounts) {
      if (other.path.startsWith(`${path}/`)) {
        names.add(other.path.slice(path.length + 1).split('/')[0]!)
      }
    }
    return [...names].sort()
  }

  #entry(path: string): FileContent | Folder | undefined {
    const { mount, key } = this.#locate(path)
    const entry = mount.store.get(key)
    if (entry !== undefined) return entry
    // Mount points are always there, and so are the folders above them.
    const above = this.#mounts.some((other) => `${other.path}/`.startsWith(`${path}/`))
    return above ? new Map() : undefined
  }

  #writable(path: string): { readonly store: FileStore; readonly key: string } {
    const { mount, key } = this.#locate(path)
    if (this.isReadOnly(path)) throw new FileError(READ_ONLY)
    return { store: mount.store, key }
  }

  #locate(path: string): { readonly mount: Mount; readonly key: string } {
    const mount =
      this.#mounts.find((each) => path === each.path || path.startsWith(`${each.path}/`)) ??
      this.#root
    const sub = mount.subPath === '' ? '' : absolute(mount.subPath, '')
    return { mount, key: sub + path.slice(mount.path.length) }
  }
}

export function parent(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}
