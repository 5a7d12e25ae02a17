/** `cp` and `mv`: files and folders to another name, or into a folder. */
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import type { FileTree } from '../files/file-tree.ts'
import type { Command, Process } from '../shell/process.ts'

/** Files have no owners, modes and times here, and nobody is asked. */
const IDLE_OPTION = /^[finpPLduT]$/
const RECURSIVE_OPTION = /^[rRa]$/

interface Asked {
  readonly name: string
  readonly from: string
  readonly to: string
  readonly isRecursive: boolean
}

/** Answers why it was not done. */
type Act = (files: FileTree, asked: Asked) => Promise<string | undefined>

export const copy: Command = (task) =>
  each(task, 'cp', async (files, { name, from, to, isRecursive }) => {
    if (!files.exists(from)) return `can't stat '${name}': No such file or directory`
    if (files.isFolder(from) && !isRecursive) return `omitting directory '${name}'`
    if (`${to}/`.startsWith(`${from}/`)) return `'${name}' and the target are the same file`
    await put(files, from, to)
    return undefined
  })

export const move: Command = (task) =>
  each(task, 'mv', async (files, { name, from, to }) => {
    if (!files.exists(from)) return `can't rename '${name}': No such file or directory`
    if (`${to}/`.startsWith(`${from}/`)) return `can't rename '${name}': Invalid argument`
    await put(files, from, to)
    files.remove(from)
    return undefined
  })

/** A file, or a folder with all that is in it. */
export async function put(files: FileTree, from: string, to: string): Promise<void> {
  if (!files.isFolder(from)) return files.write(to, await files.read(from))
  files.makeFolder(to, true)
  for (const name of files.list(from)) await put(files, `${from}/${name}`, `${to}/${name}`)
}

async function each(task: Process, tool: string, act: Act): Promise<number> {
  const { args, err, folder, out, place } = task
  const letters = args.flatMap((arg) => (isOption(arg) ? arg.slice(1).split('') : []))
  const names = args.filter((arg) => !isOption(arg))
  const target = names.pop()
  const unknown = letters.find(
    (letter) => letter !== 'v' && !RECURSIVE_OPTION.test(letter) && !IDLE_OPTION.test(letter),
  )
  if (unknown !== undefined || target === undefined || names.length === 0) {
    place.onUnknown?.(`${tool} ${args.join(' ')}`)
    await err(`${tool}: ${unknown ? `unrecognized option: ${unknown}` : 'missing file operand'}\n`)
    return 1
  }
  const into = absolute(target, folder.path)
  const isFolder = place.files.isFolder(into)
  const isRecursive = letters.some((letter) => RECURSIVE_OPTION.test(letter))
  let exitCode = 0
  for (const name of names) {
    const from = absolute(name, folder.path)
    const last = from.slice(from.lastIndexOf('/') + 1)
    const [to, shown] = isFolder
      ? [`${into}/${last}`, `${target.replace(/\/$/, '')}/${last}`]
      : [into, target]
    const asked = { name, from, to, isRecursive }
    const problem =
      names.length > 1 && !isFolder
        ? `target '${target}' is not a directory`
        : await act(place.files, asked).catch((error: unknown) => {
            if (!(error instanceof FileError)) throw error
            return `can't create '${shown}': ${error.message}`
          })
    if (problem !== undefined) exitCode = 1
    if (problem !== undefined) await err(`${tool}: ${problem}\n`)
    else if (letters.includes('v')) await out(`'${name}' -> '${shown}'\n`)
  }
  return exitCode
}

function isOption(arg: string): boolean {
  return /^-[A-Za-z]+$/.test(arg)
}
