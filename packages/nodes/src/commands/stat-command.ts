/** `stat -c FORMAT FILE...`: what a file is and whose. */
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import { permissionText } from './mode-text.ts'
import type { Command, Process } from '../shell/process.ts'

export const stat: Command = async (task) => {
  const { place, out, err } = task
  const asked = read(task.args)
  if (asked === undefined) {
    place.onUnknown?.(`stat ${task.args.join(' ')}`)
    await err('stat: simulated containers know stat -c FORMAT FILE\n')
    return 1
  }
  let exitCode = 0
  for (const name of asked.names) {
    try {
      await out(`${await described(task, asked.format, name)}\n`)
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      await err(`stat: can't stat '${name}': ${error.message}\n`)
      exitCode = 1
    }
  }
  return exitCode
}

/** The value of -c may stand right behind it; -L follows links, of which there are none. */
function read(args: readonly string[]) {
  let format: string | undefined
  const names: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!
    if (arg === '-c') format = args[++at]
    else if (arg.startsWith('-c')) format = arg.slice(2)
    else if (arg === '-L') continue
    else if (arg.startsWith('-')) return undefined
    else names.push(arg)
  }
  return format === undefined || names.length === 0 ? undefined : { format, names }
}

async function described({ place, folder }: Process, format: string, name: string) {
  const path = absolute(name, folder.path)
  const { mode, uid, gid, isFolder } = place.files.status(path)
  const sizeBytes = isFolder ? FOLDER_BYTES : (await place.files.read(path)).length
  const owner = (id: number): string => (id === 0 ? 'root' : 'UNKNOWN')
  const fields: Readonly<Record<string, string>> = {
    '%': '%',
    a: mode.toString(8),
    A: (isFolder ? 'd' : '-') + permissionText(mode),
    F: isFolder ? 'directory' : sizeBytes === 0 ? 'regular empty file' : 'regular file',
    g: String(gid),
    G: owner(gid),
    n: name,
    s: String(sizeBytes),
    u: String(uid),
    U: owner(uid),
  }
  return format.replaceAll(/%(.)/gs, (all, letter: string) => fields[letter] ?? all)
}

const FOLDER_BYTES = 4_096
