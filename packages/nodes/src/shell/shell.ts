/** Runs command lines in a simulated container. */
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import { Gathering } from '../files/gathered.ts'
import { matchesGlob } from '../files/glob.ts'
import type { FileTree } from '../files/file-tree.ts'
import { inputOf } from './input.ts'
import type { Input } from './input.ts'
import { noOptions } from './options.ts'
import type { ShellOptions } from './options.ts'
import { expanded, expandedAll, patternIn } from './expansion.ts'
import type { Expanding } from './expansion.ts'
import { MOST_ROUNDS_AT_ONCE, jump, roundOf } from './loops.ts'
import type { Round } from './loops.ts'
import { parseScript } from './syntax.ts'
import type {
  Command as ShellCommand,
  Loop,
  Redirection,
  Repetition,
  Selection,
  SimpleCommand,
  Step,
} from './syntax.ts'
import { SyntaxProblem } from './words.ts'

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
  /** Of the shell around it; `export`, `read` and `unset` change them. */
  readonly variables: Map<string, string>
  readonly stdin: Input
  out(text: string | Uint8Array): Promise<void>
  err(text: string): Promise<void>
  readonly place: Surroundings
  /** Of relative paths; `cd` changes it for the commands that follow. */
  readonly folder: { path: string }
  /** Of the shell around it; `set` changes them. */
  readonly options: ShellOptions
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
  const variables = new Map(environment)
  const task = {
    ...streams,
    place,
    environment: variables,
    variables,
    folder: { path: '' },
    options: noOptions(),
  }
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
  try {
    return await runSteps(parseScript(script), { ...task, loops: 0 }, lastExitCode)
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error
    task.place.onUnknown?.(error.message)
    await task.err(`sh: ${error.message}\n`)
    return 2
  }
}

interface Shell extends Omit<Process, 'args'> {
  /** What is asked whether it fails does not end the script by failing. */
  readonly isAsked?: boolean
  /** How many are around, in this script and shell. */
  readonly loops?: number
}

async function runSteps(
  steps: readonly Step[],
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  let exitCode = lastExitCode
  for (const [index, { when, isInverted, pipeline }] of steps.entries()) {
    if ((when === '&&' && exitCode !== 0) || (when === '||' && exitCode === 0)) continue
    const isAsked = task.isAsked === true || isInverted || (steps[index + 1]?.when ?? ';') !== ';'
    exitCode = await runPipeline(pipeline, { ...task, isAsked }, exitCode)
    if (exitCode !== 0 && task.options.stopsOnFailure && !isAsked) throw new Exit(exitCode)
    if (isInverted) exitCode = exitCode === 0 ? 1 : 0
  }
  return exitCode
}

async function runPipeline(
  pipeline: readonly ShellCommand[],
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  let { stdin } = task
  let failed = 0
  for (const command of pipeline.slice(0, -1)) {
    const { printed, exitCode } = await taken((out) =>
      runAny(command, { ...task, stdin, out }, lastExitCode),
    )
    if (task.options.failsInPipes && exitCode !== 0) failed = exitCode
    stdin = inputOf(printed)
  }
  return (await runAny(pipeline.at(-1)!, { ...task, stdin }, lastExitCode)) || failed
}

/** What is printed goes to `out` of the command that is run. */
async function taken(
  act: (out: Process['out']) => Promise<number>,
): Promise<{ readonly printed: Uint8Array; readonly exitCode: number }> {
  const printed = new Gathering(MOST_PIPED_BYTES)
  const exitCode = await act(async (text) => printed.add(text))
  return { printed: printed.bytes(), exitCode }
}

async function runAny(command: ShellCommand, task: Shell, lastExitCode: number): Promise<number> {
  if ('words' in command) return runSimple(command, task, lastExitCode)
  if ('redirected' in command) {
    const context = expanding(task, lastExitCode)
    return redirected(command.redirections, task, context, (streams) =>
      runAny(command.redirected, { ...task, ...streams }, lastExitCode),
    )
  }
  if ('branches' in command) {
    for (const { condition, steps } of command.branches)
      if ((await runSteps(condition, { ...task, isAsked: true }, lastExitCode)) === 0)
        return runSteps(steps, task, 0)
    return runSteps(command.otherwise, task, 0)
  }
  if ('variable' in command) return runLoop(command, task, lastExitCode)
  if ('endsWhen' in command) return runRepetition(command, task, lastExitCode)
  if ('choices' in command) return runSelection(command, task, lastExitCode)
  const { group, isSubshell } = command
  return isSubshell ? runSubshell(group, task, lastExitCode) : runSteps(group, task, lastExitCode)
}

async function runLoop(
  { variable, values, body }: Loop,
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  let exitCode = 0
  for (const value of await expandedAll(values, expanding(task, lastExitCode))) {
    task.environment.set(variable, value)
    const round = await runRound(body, task, exitCode)
    exitCode = round.exitCode
    if (round.isLast) break
  }
  return exitCode
}

/** The first choice that has a pattern for it. */
async function runSelection(
  { of, choices }: Selection,
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  const context = expanding(task, lastExitCode)
  const value = await expanded(of, context)
  for (const { patterns, steps } of choices)
    for (const pattern of patterns)
      if (matchesGlob(await patternIn(pattern, context), value)) return runSteps(steps, task, 0)
  return 0
}

async function runRepetition(
  { condition, endsWhen, body }: Repetition,
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  let roundsAtOnce = 0
  const sleep = (delayMs: number): Promise<void> => {
    if (delayMs > 0) roundsAtOnce = 0
    return task.place.sleep(delayMs)
  }
  const watched = { ...task, place: { ...task.place, sleep } }
  let exitCode = 0
  let before = lastExitCode
  for (;;) {
    const test = await runRound(condition, { ...watched, isAsked: true }, before)
    if (test.isLast) return test.exitCode
    if ((test.exitCode === 0) === (endsWhen === 'holds')) return exitCode
    const round = await runRound(body, watched, test.exitCode)
    exitCode = before = round.exitCode
    if (round.isLast) return exitCode
    if (++roundsAtOnce > MOST_ROUNDS_AT_ONCE) await sleep(Infinity)
  }
}

function runRound(steps: readonly Step[], task: Shell, lastExitCode: number): Promise<Round> {
  return roundOf(task.loops ?? 0, async (loops) => {
    const exitCode = await runSteps(steps, { ...task, loops }, lastExitCode)
    await task.place.yieldIfLong()
    return exitCode
  })
}

/** With variables and a folder of its own, and an end of its own. */
async function runSubshell(
  steps: readonly Step[],
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  const { environment, folder } = task
  const variables = new Map(environment)
  const own = {
    ...task,
    environment: variables,
    variables,
    folder: { ...folder },
    options: { ...task.options },
    loops: 0,
  }
  try {
    return await runSteps(steps, own, lastExitCode)
  } catch (error) {
    if (error instanceof Exit) return error.exitCode
    throw error
  }
}

async function runSimple(
  command: SimpleCommand,
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  const { environment } = task
  // Of a command that is an assignment only, it is that of the script in its value.
  let exitCode = 0
  const context = expanding(task, lastExitCode, (code) => (exitCode = code))
  const words = await expandedAll(command.words, context)
  const given = words.length === 0 ? environment : new Map(environment)
  for (const { name, value } of command.assignments) given.set(name, await expanded(value, context))
  if (words.length === 0 && command.redirections.length === 0) return exitCode
  return redirected(command.redirections, task, context, async (streams) => {
    if (task.options.traces && words.length > 0) await streams.err(`+ ${words.join(' ')}\n`)
    const own = { ...task, ...streams, environment: given, variables: environment }
    return named(words, own, lastExitCode)
  })
}

/** Runs with other streams; what went to files is in them afterwards. */
async function redirected(
  redirections: readonly Redirection[],
  task: Shell,
  context: Expanding,
  act: (streams: Streams) => Promise<number>,
): Promise<number> {
  const { folder, place } = task
  const files: { path: string; taken: Gathering; append: boolean }[] = []
  let { stdin, out, err } = task
  for (const { from, mode, target } of redirections) {
    const path = absolute(await expanded(target, context), folder.path)
    if (mode === '&') {
      if (from === 2) err = out
      else out = (text) => err(typeof text === 'string' ? text : Buffer.from(text).toString())
    } else if (mode === '<') {
      try {
        stdin = inputOf(path === '/dev/null' ? new Uint8Array(0) : await place.files.read(path))
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
  const exitCode = await act({ stdin, out, err })
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

async function named(words: readonly string[], task: Shell, lastExitCode: number): Promise<number> {
  if (words.length === 0) return 0
  // Without a number it is the exit code before it.
  if (words[0] === 'exit' && words.length === 1) throw new Exit(lastExitCode)
  if (words[0] === 'break' || words[0] === 'continue') return jump(words, task.loops ?? 0)
  try {
    return await run(words, task)
  } catch (error) {
    if (!(error instanceof UnknownCommand)) throw error
    task.place.onUnknown?.(error.command)
    await task.err(`sh: ${error.command}: not found\n`)
    return 127
  }
}

/** `onSubstituted`: told of the exit code of each `$( )`. */
function expanding(
  task: Shell,
  lastExitCode: number,
  onSubstituted: (exitCode: number) => void = () => {},
): Expanding {
  return {
    ...task,
    lastExitCode,
    async substitute(script) {
      const { printed, exitCode } = await taken((out) =>
        runSubshell(script, { ...task, out }, lastExitCode),
      )
      onSubstituted(exitCode)
      return Buffer.from(printed).toString().replace(/\n+$/, '')
    },
    async fail(message) {
      await task.err(message)
      throw new Exit(2)
    },
  }
}
