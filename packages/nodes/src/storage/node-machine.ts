/** Files of a node's machine: what commands on it made, and folders that pods or volumes use of it. All of it is in memory. */
import { FileTree } from '../files/file-tree.ts'
import type { Machine } from '../shell/machine.ts'
import { nodePlace } from './volume-data.ts'
import type { VolumeData } from './volume-data.ts'

const FOLDERS = [
  '/etc',
  '/home',
  '/mnt',
  '/opt',
  '/proc',
  '/root',
  '/run',
  '/srv',
  '/tmp',
  '/var/lib',
  '/var/log',
]

export class NodeMachine implements Machine {
  readonly loops = new Map<number, string>()
  readonly #data: VolumeData
  readonly #nodeName: string

  constructor(data: VolumeData, nodeName: string) {
    this.#data = data
    this.#nodeName = nodeName
  }

  files(): FileTree {
    const root = this.#data.of(nodePlace(this.#nodeName, '/'))
    for (const path of FOLDERS) root.makeFolder(path)
    const mounts = [...this.#data.foldersOf(this.#nodeName)].map(([path, store]) => ({
      path,
      store,
      subPath: '',
      readOnly: false,
      type: 'ext4',
    }))
    return new FileTree(
      root,
      mounts.filter(({ path }) => path !== ''),
    )
  }

  lead(path: string, target: string): void {
    if (path === target) return
    this.#data.share(this.#place(path), this.#place(target))
  }

  mountEmpty(path: string): void {
    this.#forget(path)
    this.#data.renew(this.#place(path))
  }

  remove(path: string): void {
    this.#forget(path)
    this.files().remove(path)
  }

  /** What others keep there and below. */
  #forget(path: string): void {
    for (const [known] of this.#data.foldersOf(this.#nodeName))
      if (known !== '' && `${known}/`.startsWith(`${path}/`)) this.#data.forget(this.#place(known))
  }

  #place(path: string): string {
    return nodePlace(this.#nodeName, path)
  }
}
