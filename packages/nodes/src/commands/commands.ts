/** The commands of every simulated container. A small set on purpose: enough to look around, to copy, and to try exit codes. */
import { durationMs } from '../behavior/duration.ts'
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import { Exit } from '../shell/process.ts'
import { runCommand } from '../shell/run-command.ts'
import { runWholeScript } from '../shell/shell.ts'
import type { Command, Process } from '../shell/process.ts'
import { tar } from './tar-command.ts'
import { BufferedLines, gathered } from '../files/gathered.ts'
import { awk } from './awk-command.ts'
import { expr, test } from './condition-commands.ts'
import { changed, chmod } from './chmod-command.ts'
import { copy, move } from './copy-commands.ts'
import { cut } from './cut-command.ts'
import { date } from './date-command.ts'
import { dd } from './dd-command.ts'
import { df } from './df-command.ts'
import { echo } from './echo-command.ts'
import { find } from './find-command.ts'
import { grep } from './grep-command.ts'
import { head, tail } from './head-tail-commands.ts'
import { hostname } from './hostname-command.ts'
import { id, uname } from './identity-commands.ts'
import { shellOfInput } from './interactive-shell.ts'
import { ip } from './ip-command.ts'
import { permissionText } from './mode-text.ts'
import { knownArguments } from './known-arguments.ts'
import { mount } from './mount-command.ts'
import { enterMachine } from './machine-commands.ts'
import { printf } from './printf-command.ts'
import { seq } from './seq-command.ts'
import { sort } from './sort-command.ts'
import { stat } from './stat-command.ts'
import { sysctl } from './sysctl-command.ts'
import { noOptions, readOptions } from '../shell/options.ts'
import { readNamed, wordCount } from './text-commands.ts'
import { rev, tr } from './translate-command.ts'
import { umask } from './umask-command.ts'
import { exportVariables, read, unset } from './variable-commands.ts'

/** Of an input whose file has no limit. */
const MOST_INPUT_BYTES = 8 * 2 ** 20
/** Of a folder that is made: what a mode in letters starts from. */
const EVERY_BIT = 0o777

function pathOf({ folder }: Process, name: string): string {
  return absolute(name, folder.path)
}

/** Options of one letter each, and what is left. */
function split(args: readonly string[]): { options: string; names: string[] } {
  const options = args.filter((arg) => /^-[A-Za-z0-9]/.test(arg)).map((arg) => arg.slice(1))
  return { options: options.join(''), names: args.filter((arg) => !/^-[A-Za-z0-9]/.test(arg)) }
}

const cat: Command = async (task) => {
  const given = await knownArguments(task, 'cat', { flags: 'u' })
  if (given === undefined) return 1
  const names = given.operands.length === 0 ? ['-'] : given.operands
  let exitCode = 0
  for (const name of names) {
    if (name === '-') {
      for await (const chunk of task.stdin) await task.out(chunk)
      continue
    }
    try {
      await task.out(await readNamed(task, name))
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      await task.err(`cat: can't open '${name}': ${error.message}\n`)
      exitCode = 1
    }
  }
  return exitCode
}

const ls: Command = async (task) => {
  const { options, names } = split(task.args)
  const { files } = task.place
  const shown = names.length === 0 ? ['.'] : names
  const isDeep = options.includes('R')
  const titled = isDeep || shown.length > 1
  let exitCode = 0
  // Folders below one come right behind it, while the list is gone through.
  for (let index = 0; index < shown.length; index++) {
    const name = shown[index]!
    const path = pathOf(task, name)
    if (!files.exists(path)) {
      await task.err(`ls: ${name}: No such file or directory\n`)
      exitCode = 1
      continue
    }
    const folder = files.isFolder(path) && !options.includes('d')
    if (folder && titled) await task.out(`${index > 0 ? '\n' : ''}${name}:\n`)
    const entries = folder
      ? files.list(path).filter((entry) => /[aA]/.test(options) || !entry.startsWith('.'))
      : [name]
    const text = new BufferedLines(task.out)
    for (const entry of entries) {
      const full = folder ? absolute(entry, path) : path
      await text.add(options.includes('l') ? await longLine(task, full, entry) : `${entry}\n`)
    }
    await text.end()
    if (!folder || !isDeep) continue
    const below = entries.filter((entry) => files.isFolder(absolute(entry, path)))
    shown.splice(index + 1, 0, ...below.map((entry) => `${name.replace(/\/$/, '')}/${entry}`))
  }
  return exitCode
}

async function longLine({ place }: Process, path: string, name: string): Promise<string> {
  const { isFolder, mode } = place.files.status(path)
  const size = isFolder ? 4096 : (await place.files.read(path)).length
  const owner = place.user.uid === 0 ? 'root     root    ' : `${place.user.uid} ${place.user.gid}`
  const kind = isFolder ? 'd' : '-'
  return `${kind}${permissionText(mode)}    1 ${owner} ${String(size).padStart(9)} ${name}\n`
}

const environmentCommand: Command = async (task) => {
  const { args, environment, folder, out } = task
  for (const [index, arg] of args.entries()) {
    const assignment = /^([A-Za-z_]\w*)=(.*)$/s.exec(arg)
    if (assignment !== null) environment.set(assignment[1]!, assignment[2]!)
    else {
      const place = { ...task.place, folder: folder.path }
      return runCommand(args.slice(index), task, place, environment)
    }
  }
  for (const [name, value] of environment) await out(`${name}=${value}\n`)
  return 0
}

const printenv: Command = async ({ args, environment, out }) => {
  if (args.length === 0) {
    for (const [name, value] of environment) await out(`${name}=${value}\n`)
    return 0
  }
  const values = args.map((name) => environment.get(name))
  for (const value of values) if (value !== undefined) await out(`${value}\n`)
  return values.includes(undefined) ? 1 : 0
}

const sleepCommand: Command = async ({ args, place, err }) => {
  const [amount = ''] = args
  const delayMs = amount === 'infinity' || amount === 'inf' ? Infinity : timeMs(amount)
  if (Number.isNaN(delayMs)) {
    await err(`sleep: invalid number '${amount}'\n`)
    return 1
  }
  await place.sleep(delayMs)
  return 0
}

const UNIT_MS: Readonly<Record<string, number>> = {
  '': 1_000,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** As sleep writes them, or as Go does. */
function timeMs(amount: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(amount) ?? []
  if (number !== undefined) return Number(number) * UNIT_MS[unit!]!
  return durationMs(amount, Number.NaN)
}

const sh: Command = async (given) => {
  const options = noOptions()
  const known = readOptions(given.args, options)
  if ('unknown' in known) return unknownOption(given, known.unknown)
  // What it changes is its own, and it ends alone.
  const environment = new Map(given.environment)
  const task = {
    ...given,
    options,
    folder: { ...given.folder },
    place: { ...given.place, files: given.place.files.forChild() },
    environment,
    variables: environment,
  }
  const { rest, letters } = known
  const [first] = rest
  const isGiven = letters.includes('c')
  if (!isGiven && (first === undefined || letters.includes('s')))
    return shellOfInput({ ...task, shell: given.called }, rest)
  const shell = (isGiven ? rest[1] : first) ?? given.called
  const script = isGiven
    ? (first ?? '')
    : Buffer.from(await task.place.files.read(pathOf(task, first!))).toString()
  // The first word behind a script that is given is its name.
  return runWholeScript(script, { ...task, shell }, rest.slice(isGiven ? 2 : 1))
}

const set: Command = (task) => {
  const known = readOptions(task.args, task.options)
  if ('unknown' in known) return unknownOption(task, known.unknown)
  return known.rest.length > 0 ? unknownOption(task, known.rest[0]!) : 0
}

async function unknownOption({ place, err }: Process, option: string): Promise<number> {
  place.onUnknown?.(option)
  await err(`sh: option ${option} is not known to simulated containers\n`)
  return 2
}

const makeFolders: Command = async (task) => {
  const given = await knownArguments(task, 'mkdir', {
    flags: 'p',
    valued: 'm',
    words: { parents: 'p' },
    wordsWithValue: { mode: 'm' },
  })
  if (given === undefined) return 1
  const { files } = task.place
  const mode = given.value('m')
  for (const name of given.operands) {
    const path = pathOf(task, name)
    const isNew = !files.exists(path)
    files.makeFolder(path, given.has('p'))
    if (mode === undefined || !isNew) continue
    const { uid, gid } = files.status(path)
    const bits = changed(mode, EVERY_BIT)
    if (bits === undefined) throw new FileError(`invalid mode '${mode}'`)
    files.describe(path, { mode: bits, uid, gid })
  }
  return 0
}

const remove: Command = async (task) => {
  const given = await knownArguments(task, 'rm', {
    flags: 'rRf',
    words: { recursive: 'r', force: 'f' },
  })
  if (given === undefined) return 1
  const isDeep = given.has('r') || given.has('R')
  for (const name of given.operands) {
    const path = pathOf(task, name)
    const { files } = task.place
    if (!files.exists(path) && given.has('f')) continue
    if (!files.exists(path))
      throw new FileError(`can't remove '${name}': No such file or directory`)
    if (files.isFolder(path) && !isDeep) throw new FileError(`'${name}' is a directory`)
    files.remove(path)
  }
  return 0
}

const touch: Command = async (task) => {
  // There are no times: whichever is meant (-a, -m) is as good.
  const given = await knownArguments(task, 'touch', { flags: 'acm', words: { 'no-create': 'c' } })
  if (given === undefined) return 1
  for (const name of given.operands) {
    const path = pathOf(task, name)
    if (!task.place.files.exists(path) && !given.has('c'))
      task.place.files.write(path, new Uint8Array(0))
  }
  return 0
}

const tee: Command = async (task) => {
  const given = await knownArguments(task, 'tee', {
    flags: 'ai',
    words: { append: 'a', 'ignore-interrupts': 'i' },
  })
  if (given === undefined) return 1
  const { files } = task.place
  const paths = given.operands.map((name) => pathOf(task, name))
  const [free = MOST_INPUT_BYTES] = paths.map((path) => files.freeBytes(path))
  const bytes = await gathered(task.stdin, free)
  for (const path of paths) {
    const isAdded = given.has('a') && files.exists(path)
    files.write(path, isAdded ? Buffer.concat([await files.read(path), bytes]) : bytes)
  }
  await task.out(bytes)
  return 0
}

const cd: Command = async (task) => {
  const path = pathOf(task, task.args[0] ?? '/')
  if (!task.place.files.isFolder(path)) {
    await task.err(`sh: cd: can't cd to ${task.args[0]}: No such file or directory\n`)
    return 2
  }
  task.folder.path = path
  return 0
}

const ps: Command = async ({ place, out }) => {
  const owner = place.user.uid === 0 ? 'root' : String(place.user.uid)
  await out('PID   USER     TIME  COMMAND\n')
  await out(`    1 ${owner.padEnd(8)}  0:00 ${place.program}\n`)
  await out(`    7 ${owner.padEnd(8)}  0:00 ps\n`)
  return 0
}

const printed =
  (text: (task: Process) => string): Command =>
  async (task) => {
    await task.out(`${text(task)}\n`)
    return 0
  }

/** Whether a command line names one that shows what stands in files: what they hold may be others by the time it is asked for. */
export function showsFiles(words: readonly string[]): boolean {
  return words.some((word) =>
    /(?<![\w.-])(?:awk|cat|cut|find|grep|head|ls|tail|wc)(?![\w.-])/.test(word),
  )
}

/** Whether a command line does something of its own upon signals: whoever runs it again does not know of any. */
export function handlesSignals(words: readonly string[]): boolean {
  return words.some((word) => /(?<![\w.-])trap(?![\w.-])/.test(word))
}

export const COMMANDS: ReadonlyMap<string, Command> = new Map<string, Command>([
  ['[', test],
  ['[[', test],
  [':', () => 0],
  ['ash', sh],
  ['awk', awk],
  ['bash', sh],
  ['cat', cat],
  ['cd', cd],
  ['chmod', chmod],
  ['cp', copy],
  ['cut', cut],
  ['date', date],
  ['dd', dd],
  ['df', df],
  ['echo', echo],
  ['env', environmentCommand],
  [
    'exit',
    ({ args }) => {
      throw new Exit(Number(args[0] ?? 0) & 255)
    },
  ],
  ['export', exportVariables],
  ['expr', expr],
  ['false', () => 1],
  ['find', find],
  ['grep', grep],
  ['head', head],
  ['hostname', hostname],
  ['id', id],
  ['ip', ip],
  ['ls', ls],
  ['mkdir', makeFolders],
  ['mount', mount],
  ['mv', move],
  ['nsenter', enterMachine],
  ['printenv', printenv],
  ['printf', printf],
  ['ps', ps],
  ['pwd', printed(({ folder }) => folder.path || '/')],
  ['read', read],
  ['rev', rev],
  ['rm', remove],
  ['seq', seq],
  ['set', set],
  ['sh', sh],
  ['sleep', sleepCommand],
  ['sort', sort],
  ['stat', stat],
  // What is written is there at once.
  ['sync', () => 0],
  ['sysctl', sysctl],
  ['tail', tail],
  ['tar', tar],
  ['tee', tee],
  ['test', test],
  ['touch', touch],
  ['tr', tr],
  ['true', () => 0],
  ['umask', umask],
  ['uname', uname],
  ['unset', unset],
  ['wc', wordCount],
  ['whoami', printed(({ place }) => (place.user.uid === 0 ? 'root' : String(place.user.uid)))],
])
