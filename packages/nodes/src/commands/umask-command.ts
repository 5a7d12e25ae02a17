/** `umask`: shows what files and folders are made without, or changes it for what the shell makes from then on: `077`, `u=rwx,go=`. */
import { nameOf } from '../shell/process.ts'
import type { Command } from '../shell/process.ts'
import { changed } from './chmod-command.ts'
import { sayUnknown } from './known-arguments.ts'

const ALL = 0o777

export const umask: Command = async (task) => {
  const { files } = task.place
  const isByLetters = task.args[0] === '-S'
  const [asked, ...rest] = isByLetters ? task.args.slice(1) : task.args
  if (asked === undefined) {
    await task.out(isByLetters ? `${lettersOf(ALL & ~files.umask)}\n` : `${octal(files.umask)}\n`)
    return 0
  }
  if (rest.length > 0 || asked.startsWith('-')) {
    await sayUnknown(task, 'umask', task.args.join(' '))
    return 2
  }
  const mask = maskOf(asked, files.umask)
  if (mask === undefined) {
    await task.err(`${nameOf(task)}: umask: invalid mode '${asked}'\n`)
    return 2
  }
  files.umask = mask
  return 0
}

/** Digits are what is not given, letters what is. */
function maskOf(asked: string, before: number): number | undefined {
  if (/^[0-7]{1,4}$/.test(asked)) return Number.parseInt(asked, 8) & ALL
  if (/^\d/.test(asked)) return undefined
  const given = changed(asked, ALL & ~before)
  return given === undefined ? undefined : ALL & ~given
}

function octal(mask: number): string {
  return mask.toString(8).padStart(4, '0')
}

function lettersOf(mode: number): string {
  const of = (shift: number): string =>
    [...'rwx'].filter((_, at) => ((mode >> shift) & (4 >> at)) !== 0).join('')
  return `u=${of(6)},g=${of(3)},o=${of(0)}`
}
