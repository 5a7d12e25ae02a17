/** Files of one container: what its image and node give, what volumes mount, what commands wrote. In memory only. */

/** Bytes, or how to get them; null is a folder. */
export type Entry = Uint8Array | (() => Promise<Uint8Array>) | null
export type Store = Map<string, Entry>

export interface Mount {
  /** Absolute, without trailing slash. */
  readonly path: string
  readonly store: Store
  /** Shown of the store; empty: all of it. */
  readonly subPath: string
  readonly readOnly: boolean
}

export class FileError extends Error {}

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

export class FileTree {
  readonly #root: Mount
  readonly #mounts: readonly Mount[]

  constructor(root: Store, mounts: readonly Mount[]) {
    this.#root = { path: '', store: root, subPath: '', readOnly: false }
    this.#mounts = mounts.toSorted((a, b) => b.path.length - a.path.length)
  }

  async read(path: string): Promise<Uint8Array> {
    const entry = this.#entry(path)
    if (entry === undefined) throw new FileError('No such file or directory')
    if (entry === null) throw new FileError('Is a directory')
    return typeof entry === 'function' ? await entry() : entry
  }

  exists(path: string): boolean {
    return this.#entry(path) !== undefined
  }

  isFolder(path: string): boolean {
    return this.#entry(path) === null
  }

  write(path: string, bytes: Uint8Array): void {
    const { mount, key } = this.#locate(path)
    if (mount.readOnly) throw new FileError('Read-only file system')
    if (this.isFolder(path)) throw new FileError('Is a directory')
    if (!this.isFolder(parent(path))) throw new FileError('No such file or directory')
    mount.store.set(key, bytes)
  }

  /** With its parents when asked for; a folder that is there stays. */
  makeFolder(path: string, withParents: boolean): void {
    if (this.isFolder(path)) {
      if (withParents) return
      throw new FileError('File exists')
    }
    if (this.exists(path)) throw new FileError('File exists')
    if (!this.isFolder(parent(path))) {
      if (!withParents) throw new FileError('No such file or directory')
      this.makeFolder(parent(path), true)
    }
    const { mount, key } = this.#locate(path)
    if (mount.readOnly) throw new FileError('Read-only file system')
    mount.store.set(key, null)
  }

  /** A folder with all that is in it. */
  remove(path: string): void {
    const { mount, key } = this.#locate(path)
    if (mount.readOnly) throw new FileError('Read-only file system')
    for (const name of mount.store.keys()) {
      if (name === key || name.startsWith(`${key}/`)) mount.store.delete(name)
    }
  }

  /** Names in a folder, sorted. */
  list(path: string): string[] {
    const names = new Set<string>()
    const { mount, key } = this.#locate(path)
    for (const name of mount.store.keys()) {
      if (name.startsWith(`${key}/`)) names.add(name.slice(key.length + 1).split('/')[0]!)
    }
    for (const other of this.#mounts) {
      if (other.path.startsWith(`${path}/`)) {
        names.add(other.path.slice(path.length + 1).split('/')[0]!)
      }
    }
    return [...names].sort()
  }

  #entry(path: string): Entry | undefined {
    const { mount, key } = this.#locate(path)
    const entry = mount.store.get(key)
    if (entry !== undefined) return entry
    // Folders that hold something need no entry of their own; mount points always are there.
    return path === mount.path || this.list(path).length > 0 ? null : undefined
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
