/** `tar` with c and x, by standard input and output. Never holds more than one file: what it packs and unpacks may be large. */
import { FileError } from '../files/file-error.ts'
import { absolute, parent } from '../files/file-tree.ts'
import type { Command, Process } from '../shell/process.ts'
import { TAR_END, packEntry, unpackTar } from './tar.ts'

export const tar: Command = async (task) => {
  const args = task.args.map((arg, index) => (index === 0 ? arg.replace(/^-/, '') : arg))
  const mode = args[0] ?? ''
  const names: string[] = []
  let folder = task.folder.path
  for (let at = 1; at < args.length; at++) {
    const arg = args[at]!
    if (arg === '-C') folder = absolute(args[++at] ?? '', task.folder.path)
    else if (arg === '-f') at++
    else if (arg !== '-' && !arg.startsWith('--')) names.push(arg)
  }
  if (mode.includes('x')) return unpack(task, folder)
  if (mode.includes('c')) return pack(task, folder, names)
  await task.err('tar: only c and x are known to simulated containers\n')
  return 1
}

async function unpack(task: Process, folder: string): Promise<number> {
  const { files, yieldIfLong } = task.place
  const admit = (name: string, size: number): void => {
    if (size > files.freeBytes(absolute(name, folder)))
      throw new FileError('No space left on device')
  }
  for await (const { name, folder: isFolder, bytes } of unpackTar(task.stdin, admit)) {
    const path = absolute(name, folder)
    files.makeFolder(isFolder ? path : parent(path), true)
    if (!isFolder) files.write(path, bytes)
    await yieldIfLong()
  }
  return 0
}

async function pack(task: Process, folder: string, names: readonly string[]): Promise<number> {
  const { files, nowMs } = task.place
  for (const name of names) {
    const path = absolute(name, folder)
    if (!files.exists(path)) {
      await task.err(`tar: ${name}: No such file or directory\n`)
      return 1
    }
    for await (const entry of below(task, path, name.replace(/^\/+/, '')))
      await task.out(packEntry(entry, nowMs()))
  }
  await task.out(TAR_END)
  return 0
}

/** The file, or the folder and what is in it. */
async function* below(
  task: Process,
  path: string,
  name: string,
): AsyncGenerator<{ name: string; folder: boolean; bytes: Uint8Array }> {
  const { files, yieldIfLong } = task.place
  await yieldIfLong()
  if (!files.isFolder(path)) {
    yield { name, folder: false, bytes: await files.read(path) }
    return
  }
  yield { name, folder: true, bytes: new Uint8Array(0) }
  for (const child of files.list(path))
    yield* below(task, absolute(child, path), `${name}/${child}`)
}
