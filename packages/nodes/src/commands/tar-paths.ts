/** Where the paths of `tar` count from. */
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import type { Process } from '../shell/process.ts'
import { leadingOut, withoutLeading } from './tar-selection.ts'

/** What leads out of the folder is taken off names, and said once. */
export class SafeNames {
  readonly #task: Process
  readonly #said = new Set<string>()

  constructor(task: Process) {
    this.#task = task
  }

  async of(name: string): Promise<string> {
    const leading = leadingOut(name)
    if (leading !== '' && !this.#said.has(leading)) {
      this.#said.add(leading)
      await this.#task.err(`tar: removing leading '${leading}' from member names\n`)
    }
    return withoutLeading(name)
  }
}

/** Where -C leads, one after the other. */
export function folderOf(task: Process, folders: readonly string[]): string {
  let path = task.folder.path
  for (const folder of folders) {
    path = absolute(folder, path)
    if (!task.place.files.isFolder(path))
      throw new FileError(`can't change directory to '${folder}': No such file or directory`)
  }
  return path
}
