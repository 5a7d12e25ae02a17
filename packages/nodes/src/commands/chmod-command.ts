/** `chmod MODE FILE...`: in octal, or by letters (`u+x`, `go-w`, `a=r`). Nothing is refused for it, but a script that nobody may run is not run. */
import { absolute } from '../files/file-tree.ts'
import { FileError } from '../files/file-error.ts'
import type { Command, Process } from '../shell/process.ts'

const ALL = 0o777
const SPECIAL = 0o7000
const SHIFTS: Readonly<Record<string, number>> = { u: 6, g: 3, o: 0 }
const BITS: Readonly<Record<string, number>> = { r: 4, w: 2, x: 1 }

export const chmod: Command = async (task) => {
  const isDeep = task.args.includes('-R')
  const [mode = '', ...names] = task.args.filter((arg) => arg !== '-R')
  if (changed(mode, 0) === undefined || names.length === 0) {
    task.place.onUnknown?.(`chmod ${task.args.join(' ')}`)
    await task.err(`chmod: invalid mode '${mode}'\n`)
    return 1
  }
  let exitCode = 0
  for (const name of names) {
    try {
      change(task, absolute(name, task.folder.path), mode, isDeep)
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      await task.err(`chmod: ${name}: ${error.message}\n`)
      exitCode = 1
    }
  }
  return exitCode
}

function change(task: Process, path: string, mode: string, isDeep: boolean): void {
  const { files } = task.place
  const { mode: before, uid, gid, isFolder } = files.status(path)
  files.describe(path, { mode: changed(mode, before)!, uid, gid })
  if (isDeep && isFolder)
    for (const name of files.list(path)) change(task, absolute(name, path), mode, true)
}

/** Undefined: that is no mode. */
export function changed(mode: string, before: number): number | undefined {
  if (/^[0-7]{3,4}$/.test(mode)) return Number.parseInt(mode, 8)
  let now = before
  for (const part of mode.split(',')) {
    const [, who = '', sign = '', what = ''] = /^([ugoa]*)([-+=])([rwx]*)$/.exec(part) ?? []
    if (sign === '') return undefined
    const classes = who === '' || who.includes('a') ? ['u', 'g', 'o'] : [...who]
    const bits = [...what].reduce((sum, letter) => sum | BITS[letter]!, 0)
    for (const letter of classes) {
      const [own, every] = [bits << SHIFTS[letter]!, 7 << SHIFTS[letter]!]
      if (sign === '+') now |= own
      else if (sign === '-') now &= ~own
      else now = (now & ~every) | own
    }
  }
  return now & (ALL | SPECIAL)
}
