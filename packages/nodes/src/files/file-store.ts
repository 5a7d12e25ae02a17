/** Folders and files in memory, and how much of them there may be. */
import { FileError } from './file-error.ts'

/** Bytes, or how to get them. */
export type FileContent = Uint8Array | (() => Promise<Uint8Array>)
export type Folder = Map<string, FileContent | Folder>

/** Whose something is and what may be done with it; absent parts are the usual ones. */
export interface Attributes {
  /** Permissions with the set-group-id and sticky bits. */
  readonly mode?: number | undefined
  readonly uid?: number | undefined
  readonly gid?: number | undefined
}

/** What a name costs beyond its bytes, so that empty files are not free. */
const ENTRY_BYTES = 256

/** Of all that the commands of one pod write: its node's memory is the cluster's. */
export class Quota {
  readonly #limitBytes: number
  #usedBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get freeBytes(): number {
    return this.#limitBytes - this.#usedBytes
  }

  /** Negative gives back. */
  take(bytes: number): void {
    if (bytes > this.freeBytes) throw new FileError('No space left on device')
    this.#usedBytes += bytes
  }
}

const UNLIMITED = new Quota(Infinity)

/** Paths begin with a slash; the root is ''. */
export class FileStore {
  readonly #root: Folder = new Map()
  /** By path, of what is not the usual; nothing is kept of what is gone. */
  readonly #attributes = new Map<string, Attributes>()
  readonly #quota: Quota
  /** What was taken of the quota: given back at once when the store goes. */
  #takenBytes = 0

  constructor(quota: Quota = UNLIMITED) {
    this.#quota = quota
  }

  get freeBytes(): number {
    return this.#quota.freeBytes
  }

  get usedBytes(): number {
    return this.#takenBytes
  }

  get(path: string): FileContent | Folder | undefined {
    let found: FileContent | Folder | undefined = this.#root
    for (const name of namesOf(path)) {
      if (!(found instanceof Map)) return undefined
      found = found.get(name)
    }
    return found
  }

  /** With the folders above it. */
  set(path: string, content: FileContent): void {
    const names = namesOf(path)
    const name = names.pop() ?? ''
    const folder = this.#folder(names)
    const before = folder.get(name)
    this.#take(costOf(content) - (before === undefined ? 0 : costOf(before)))
    folder.set(name, content)
  }

  makeFolder(path: string): void {
    this.#folder(namesOf(path))
  }

  /** Adds to what is known of that path, whether or not anything is there. */
  describe(path: string, attributes: Attributes): void {
    this.#attributes.set(path, { ...this.#attributes.get(path), ...attributes })
  }

  attributesOf(path: string): Attributes {
    return this.#attributes.get(path) ?? {}
  }

  /** A folder with all that is in it. */
  remove(path: string): void {
    const names = namesOf(path)
    const name = names.pop() ?? ''
    const folder = this.get(names.map((each) => `/${each}`).join(''))
    if (!(folder instanceof Map)) return
    const found = folder.get(name)
    if (found === undefined) return
    folder.delete(name)
    for (const known of this.#attributes.keys())
      if (`${known}/`.startsWith(`${path}/`)) this.#attributes.delete(known)
    this.#take(-costOf(found))
  }

  /** Nobody uses it any more. */
  drop(): void {
    this.#root.clear()
    this.#attributes.clear()
    this.#take(-this.#takenBytes)
  }

  #folder(names: readonly string[]): Folder {
    let folder = this.#root
    for (const name of names) {
      const found = folder.get(name)
      if (found instanceof Map) folder = found
      else if (found !== undefined) throw new FileError('Not a directory')
      else {
        this.#take(ENTRY_BYTES)
        const made: Folder = new Map()
        folder.set(name, made)
        folder = made
      }
    }
    return folder
  }

  #take(bytes: number): void {
    this.#quota.take(bytes)
    this.#takenBytes += bytes
  }
}

function namesOf(path: string): string[] {
  return path.split('/').filter((name) => name !== '')
}

function costOf(content: FileContent | Folder): number {
  if (content instanceof Uint8Array) return ENTRY_BYTES + content.length
  if (!(content instanceof Map)) return ENTRY_BYTES
  let sum = ENTRY_BYTES
  for (const each of content.values()) sum += costOf(each)
  return sum
}
