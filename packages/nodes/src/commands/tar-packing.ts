/** `tar -c`: files and folders become an archive. */
import { absolute } from '../files/file-tree.ts'
import type { Process } from '../shell/process.ts'
import type { TarOrder } from './tar-arguments.ts'
import { Compressor } from './tar-compression.ts'
import { SafeNames, folderOf } from './tar-paths.ts'
import { isExcluded, withoutSlash } from './tar-selection.ts'
import { TAR_END, packEntry } from './tar.ts'

export async function pack(task: Process, order: TarOrder): Promise<number> {
  const { files, yieldIfLong } = task.place
  if (order.operands.length === 0) {
    await task.err('tar: empty archive\n')
    return 1
  }
  const operands = order.operands.map(({ name, folders }) => ({
    name,
    path: absolute(name, folderOf(task, folders)),
  }))
  const toFile = order.archive !== '-'
  const archivePath = absolute(order.archive, task.folder.path)
  if (toFile) await files.open(archivePath, false)
  const write = async (bytes: Uint8Array): Promise<void> => {
    if (toFile) files.writeAt(archivePath, undefined, bytes)
    else await task.out(bytes)
  }
  const compressor = order.isCompressed ? new Compressor(write) : undefined
  const add = (bytes: Uint8Array): Promise<void> => compressor?.add(bytes) ?? write(bytes)
  const names = new SafeNames(task)
  let exitCode = 0
  let count = 0
  for (const { name, path } of operands) {
    if (!files.exists(path)) {
      await task.err(`tar: ${name}: No such file or directory\n`)
      exitCode = 1
      continue
    }
    for (const found of below(task, path, withoutSlash(await names.of(name)), order)) {
      await yieldIfLong()
      if (toFile && found.path === archivePath)
        await task.err(`tar: ${found.name}: file is the archive; not dumped\n`)
      else {
        await add(await packed(task, found))
        count++
        const shown = files.isFolder(found.path) ? `${found.name}/` : found.name
        if (order.isVerbose) await (toFile ? task.out : task.err)(`${shown}\n`)
      }
    }
  }
  // `kubectl cp` is content with an archive that ends: of what is not there it hears only without it.
  if (count > 0 || exitCode === 0) await add(TAR_END)
  await compressor?.end()
  if (exitCode !== 0) await task.err('tar: error exit delayed from previous errors\n')
  return exitCode
}

interface Found {
  readonly path: string
  readonly name: string
}

/** The file, or the folder and what is in it. */
function* below(task: Process, path: string, name: string, order: TarOrder): Generator<Found> {
  if (isExcluded(name, order.exclude)) return
  const { files } = task.place
  yield { path, name }
  if (!files.isFolder(path)) return
  for (const child of files.list(path))
    yield* below(task, absolute(child, path), `${name}/${child}`, order)
}

async function packed({ place }: Process, { path, name }: Found): Promise<Uint8Array> {
  const { files, nowMs } = place
  const { mode, uid, gid, isFolder } = files.status(path)
  const kind = isFolder ? 'folder' : 'file'
  const header = { name, kind, target: '', mode, uid, gid, timeMs: nowMs() } as const
  return packEntry(header, isFolder ? new Uint8Array(0) : await files.read(path))
}
