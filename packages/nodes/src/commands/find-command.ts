/** `find`: paths below folders, by type, name and depth. */
import { absolute } from '../files/file-tree.ts'
import type { FileTree } from '../files/file-tree.ts'
import { matchesGlob } from '../files/glob.ts'
import type { Command } from '../shell/process.ts'

interface Wanted {
  readonly type?: 'f' | 'd'
  /** A pattern. */
  readonly name?: string
  readonly mostDepth: number
}

export const find: Command = async (task) => {
  const { files, onUnknown } = task.place
  const firstTest = task.args.findIndex((arg) => /^[-(!]/.test(arg))
  const names = firstTest === -1 ? task.args : task.args.slice(0, firstTest)
  const tests = firstTest === -1 ? [] : task.args.slice(firstTest)
  const wanted = wantedBy(tests)
  if (typeof wanted === 'string') {
    onUnknown?.(`find ${wanted}`)
    await task.err(`find: unrecognized: ${wanted}\n`)
    return 1
  }
  let exitCode = 0
  for (const name of names.length === 0 ? ['.'] : names) {
    const path = absolute(name, task.folder.path)
    if (!files.exists(path)) {
      await task.err(`find: ${name}: No such file or directory\n`)
      exitCode = 1
      continue
    }
    for (const found of below(files, path, name, 0, wanted.mostDepth))
      if (fits(found, wanted)) await task.out(`${found.shown}\n`)
  }
  return exitCode
}

/** The first test that is not known, if there is one. */
function wantedBy(tests: readonly string[]): Wanted | string {
  let wanted: Wanted = { mostDepth: Infinity }
  for (let at = 0; at < tests.length; at += 2) {
    const [test, value = ''] = tests.slice(at)
    if (test === '-print') at--
    else if (test === '-type' && (value === 'f' || value === 'd'))
      wanted = { ...wanted, type: value }
    else if (test === '-name') wanted = { ...wanted, name: value }
    else if (test === '-maxdepth' && /^\d+$/.test(value))
      wanted = { ...wanted, mostDepth: Number(value) }
    else return test!
  }
  return wanted
}

interface Found {
  /** As it was asked for. */
  readonly shown: string
  readonly isFolder: boolean
}

function* below(
  files: FileTree,
  path: string,
  shown: string,
  depth: number,
  mostDepth: number,
): Generator<Found> {
  const isFolder = files.isFolder(path)
  yield { shown, isFolder }
  if (!isFolder || depth === mostDepth) return
  const prefix = shown.endsWith('/') ? shown : `${shown}/`
  for (const name of files.list(path))
    yield* below(files, `${path}/${name}`, prefix + name, depth + 1, mostDepth)
}

function fits({ shown, isFolder }: Found, { type, name }: Wanted): boolean {
  if (type !== undefined && (type === 'd') !== isFolder) return false
  return (
    name === undefined ||
    matchesGlob(name, shown.replace(/(?<=.)\/+$/, '').replace(/^.*\/(?=.)/s, ''))
  )
}
