/** Runs command lines in a simulated container. */
import { FileError } from './file-error.ts'
import { absolute } from './file-tree.ts'
import { Gathering } from './gathered.ts'
import type { FileTree } from './file-tree.ts'
import { SyntaxProblem, parseScript } from './shell-syntax.ts'
import type { SimpleCommand, Word } from './shell-syntax.ts'

/** What a command knows of the place it runs in. */
export interface Surroundings {
  readonly commands: ReadonlyMap<string, Command>
  readonly files: FileTree
  readonly hostname: string
  readonly user: { readonly uid: number; readonly gid: number }
  /** The container's own command line. */
  readonly program: string
  nowMs(): number
  /** Rejects when the caller is gone. */
  sleep(delayMs: number): Promise<void>
  /** Between pieces of work: gives others a turn when this one has taken long. */
  readonly yieldIfLong: () => Promise<void> | undefined
  /** Told of what cannot be run here; may throw. Absent: scripts go on, as a shell without the program would. */
  readonly onUnknown?: (what: string) => void
}

export interface Process {
  /** Without the name. */
  readonly args: readonly string[]
  readonly environment: Map<string, string>
  readonly stdin: AsyncIterable<Uint8Array>
  out(text: string | Uint8Array): Promise<void>
  err(text: string): Promise<void>
  readonly place: Surroundings
  /** Of relative paths; `cd` changes it for the commands that follow. */
  readonly folder: { path: string }
}

/** Answers the exit code. */
export type Command = (task: Process) => number | Promise<number>

/** A command that was waiting was stopped. */
export class Interrupted extends Error {}

/** 128 and the number of SIGINT. */
export const INTERRUPTED_EXIT_CODE = 130

export class UnknownCommand extends Error {
  readonly command: string

  constructor(command: string) {
    super(command)
    this.command = command
  }
}

/** `exit` ends the script around it. */
export class Exit extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`exit ${exitCode}`)
    this.exitCode = exitCode
  }
}

/** What one command of a pipeline may hand to the next: they run one after the other. */
const MOST_PIPED_BYTES = 32 * 2 ** 20

type Streams = Pick<Process, 'stdin' | 'out' | 'err'>

/** One command given word by word, as `kubectl exec` does. Throws UnknownCommand. */
export async function runCommand(
  words: readonly string[],
  streams: Streams,
  place: Surroundings,
  environment: ReadonlyMap<string, string>,
): Promise<number> {
  const task = { ...streams, place, environment: new Map(environment), folder: { path: '' } }
  try {
    return await run(words, task)
  } catch (error) {
    if (error instanceof Exit) return error.exitCode
    throw error
  }
}

async function run(words: readonly string[], task: Omit<Process, 'args'>): Promise<number> {
  const [name = '', ...args] = words
  const command = task.place.commands.get(name.replace(/^(?:\/usr)?\/s?bin\//, ''))
  if (command === undefined) throw new UnknownCommand(name)
  try {
    return await command({ ...task, args })
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    await task.err(`${name}: ${error.message}\n`)
    return 1
  }
}

/** A script; the streams and the folder are shared by its commands. */
export async function runScript(
  script: string,
  task: Omit<Process, 'args'>,
  lastExitCode = 0,
): Promise<number> {
  let exitCode = lastExitCode
  let steps
  try {
    steps = parseScript(script)
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    task.place.onUnknown?.(error.message)
    await task.err(`sh: ${error.message}\n`)
    return 2
  }
  for (const { when, pipeline } of steps) {
    if ((when === '&&' && exitCode !== 0) || (when === '||' && exitCode === 0)) continue
    let { stdin } = task
    for (const [index, command] of pipeline.entries()) {
      if (index === pipeline.length - 1) {
        exitCode = await runSimple(command, { ...task, stdin }, exitCode)
        break
      }
      const piped = new Gathering(MOST_PIPED_BYTES)
      const out = async (text: string | Uint8Array): Promise<void> => piped.add(text)
      await runSimple(command, { ...task, stdin, out }, exitCode)
      stdin = streamOf(piped.bytes())
    }
  }
  return exitCode
}

async function runSimple(
  command: SimpleCommand,
  task: Omit<Process, 'args'>,
  lastExitCode: number,
): Promise<number> {
  const { environment, folder, place } = task
  const expand = (word: Word): string[] => expanded(word, environment, lastExitCode)
  const words = command.words.flatMap(expand)
  const own = words.length === 0 ? environment : new Map(environment)
  for (const { name, value } of command.assignments) own.set(name, expand(value).join(' '))
  if (words.length === 0 && command.redirections.length === 0) return 0
  const files: { path: string; taken: Gathering; append: boolean }[] = []
  let { stdin, out, err } = task
  for (const { from, mode, target } of command.redirections) {
    const path = absolute(expand(target).join(' '), folder.path)
    if (mode === '&') {
      if (from === 2) err = out
      else out = (text) => err(typeof text === 'string' ? text : Buffer.from(text).toString())
    } else if (mode === '<') {
      try {
        stdin = streamOf(await place.files.read(path))
      } catch (error) {
        await task.err(`sh: can't open ${path}: ${(error as Error).message}\n`)
        return 1
      }
    } else {
      const taken = new Gathering(place.files.freeBytes(path))
      const isKept = path !== '/dev/null'
      const to = async (text: string | Uint8Array): Promise<void> => {
        if (isKept) taken.add(text)
      }
      if (isKept) files.push({ path, taken, append: mode === '>>' })
      if (from === 2) err = to
      else out = to
    }
  }
  const exitCode = await named(words, { ...task, stdin, out, err, environment: own })
  for (const { path, taken, append } of files) {
    try {
      const before = append && place.files.exists(path) ? [await place.files.read(path)] : []
      place.files.write(path, Buffer.concat([...before, taken.bytes()]))
    } catch (error) {
      if (!(error instanceof FileError)) throw error
      await task.err(`sh: can't create ${path}: ${error.message}\n`)
      return 1
    }
  }
  return exitCode
}

async function named(words: readonly string[], task: Omit<Process, 'args'>): Promise<number> {
  if (words.length === 0) return 0
  try {
    return await run(words, task)
  } catch (error) {
    if (!(error instanceof UnknownCommand)) throw error
    task.place.onUnknown?.(error.command)
    await task.err(`sh: ${error.command}: not found\n`)
    return 127
  }
}

function expanded(
  word: Word,
  environment: ReadonlyMap<string, string>,
  lastExitCode: number,
): string[] {
  let text = ''
  const words: string[] = []
  let splitting = false
  for (const part of word) {
    if ('text' in part) {
      text += part.text
      continue
    }
    const value =
      part.variable === '?'
        ? String(lastExitCode)
        : part.variable === '$'
          ? '1'
          : (environment.get(part.variable) ?? '')
    if (part.quoted || !/\s/.test(value)) {
      text += value
      splitting ||= !part.quoted
      continue
    }
    const pieces = value.split(/\s+/).filter((piece) => piece !== '')
    text += pieces.shift() ?? ''
    for (const piece of pieces) {
      words.push(text)
      text = piece
    }
    splitting = true
  }
  // An unquoted variable without a value is no word at all.
  if (text !== '' || !splitting || words.length > 0 || word.some((part) => 'text' in part))
    words.push(text)
  return words
}

export async function* streamOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes
}
