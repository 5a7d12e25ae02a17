/** Runs command lines in a simulated container. */
import { Gathering } from '../files/gathered.ts'
import { matchesGlob } from '../files/glob.ts'
import { leave, local, shift } from './built-in-commands.ts'
import { Definitions, signalName } from './definitions.ts'
import type { Shell } from './definitions.ts'
import { exitCodeOf, orProblem } from './ends.ts'
import { conditionWords, expanded, expandedAll, isCondition, patternIn } from './expansion.ts'
import type { Expanding } from './expansion.ts'
import { inputOf } from './input.ts'
import { MOST_ROUNDS_AT_ONCE, jump, roundOf } from './loops.ts'
import type { Round } from './loops.ts'
import { Exit, UnknownCommand, isDash, nameOf } from './process.ts'
import type { Process, TrapHandler } from './process.ts'
import { redirected } from './redirection.ts'
import { run } from './run-command.ts'
import type {
  Command as ShellCommand,
  Loop,
  Repetition,
  Selection,
  SimpleCommand,
  Step,
} from './script.ts'
import { parseScript } from './syntax.ts'

/** What one command of a pipeline may hand to the next: they run one after the other. */
const MOST_PIPED_BYTES = 32 * 2 ** 20

/** A script of its own, with what it does at its end. */
export function runWholeScript(
  script: string,
  task: Omit<Process, 'args'>,
  parameters: readonly string[],
): Promise<number> {
  return toTheEnd(task, parameters, (defined) => runScript(script, task, 0, defined))
}

export function toTheEnd(
  task: Omit<Process, 'args'>,
  parameters: readonly string[],
  act: (defined: Definitions) => Promise<number>,
): Promise<number> {
  const defined = new Definitions(parameters)
  return withLast(task, defined, () => act(defined))
}

/** Also what `trap` for EXIT asks for. */
async function withLast(
  task: Omit<Process, 'args'>,
  defined: Definitions,
  act: () => Promise<number>,
): Promise<number> {
  const exitCode = await exitCodeOf(act)
  const last = defined.traps.get('EXIT')
  if (last === undefined) return exitCode
  return exitCodeOf(async () => {
    await runScript(last, task, exitCode, defined.copy())
    return exitCode
  })
}

/** A script; the streams and the folder are shared by its commands. */
async function runScript(
  script: string,
  task: Omit<Process, 'args'>,
  lastExitCode: number,
  defined: Definitions,
): Promise<number> {
  return orProblem(task, () =>
    runParsed(parseScript(script, isDash(task)), task, lastExitCode, defined),
  )
}

export function runParsed(
  steps: readonly Step[],
  task: Omit<Process, 'args'>,
  lastExitCode: number,
  defined: Definitions,
): Promise<number> {
  return runSteps(steps, { ...task, loops: 0, defined }, lastExitCode)
}

async function runSteps(
  steps: readonly Step[],
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  let exitCode = lastExitCode
  for (const [index, step] of steps.entries()) {
    const { when, isInverted, pipeline, inBackground = false } = step
    if ((when === '&&' && exitCode !== 0) || (when === '||' && exitCode === 0)) continue
    if (inBackground) {
      task.place.onBackground?.()
      // Nobody types for it.
      const own = { ...task, stdin: inputOf(new Uint8Array(0)) }
      task.defined.begin(runSubshell([{ ...step, inBackground: false }], own, exitCode))
      exitCode = 0
      continue
    }
    const isAsked = task.isAsked === true || isInverted || (steps[index + 1]?.when ?? ';') !== ';'
    exitCode = await runPipeline(pipeline, { ...task, isAsked }, exitCode)
    if (exitCode !== 0 && task.options.stopsOnFailure && !isAsked) throw new Exit(exitCode)
    if (isInverted) exitCode = exitCode === 0 ? 1 : 0
    task.defined.check()
  }
  return exitCode
}

/** Each command of a pipe has a shell of its own. */
async function runPipeline(
  pipeline: readonly ShellCommand[],
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  const [only] = pipeline
  if (pipeline.length === 1) return runAny(only!, task, lastExitCode)
  return task.defined.inForeground(() => runPiped(pipeline, task, lastExitCode))
}

async function runPiped(
  pipeline: readonly ShellCommand[],
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  const piped = (command: ShellCommand, streams: Partial<Process>): Promise<number> =>
    inSubshell({ ...task, ...streams }, (own) => runAny(command, own, lastExitCode))
  let { stdin } = task
  let failed = 0
  for (const command of pipeline.slice(0, -1)) {
    const { printed, exitCode } = await taken((out) => piped(command, { stdin, out, isRead: true }))
    if (task.options.failsInPipes && exitCode !== 0) failed = exitCode
    stdin = inputOf(printed)
  }
  return (await piped(pipeline.at(-1)!, { stdin })) || failed
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
  if ('defines' in command) {
    task.defined.functions.set(command.defines, command.body)
    return 0
  }
  const { group, isSubshell } = command
  if (!isSubshell) return runSteps(group, task, lastExitCode)
  return task.defined.inForeground(() => runSubshell(group, task, lastExitCode))
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

function runSubshell(steps: readonly Step[], task: Shell, lastExitCode: number): Promise<number> {
  return inSubshell(task, (own) => runSteps(steps, own, lastExitCode))
}

/** With variables and a folder of its own, and an end of its own. */
function inSubshell(task: Shell, act: (own: Shell) => Promise<number>): Promise<number> {
  const variables = new Map(task.environment)
  const own = {
    ...task,
    environment: variables,
    variables,
    folder: { ...task.folder },
    options: { ...task.options },
    place: { ...task.place, files: task.place.files.forChild(), onTrap: undefined },
    defined: task.defined.copy(),
    loops: 0,
  }
  return withLast(own, own.defined, () => act(own))
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
  const words = await (isCondition(command.words) ? conditionWords : expandedAll)(
    command.words,
    context,
  )
  const given = words.length === 0 ? environment : new Map(environment)
  for (const { name, value } of command.assignments) given.set(name, await expanded(value, context))
  if (words.length === 0 && command.redirections.length === 0) return exitCode
  return redirected(command.redirections, task, context, async (streams) => {
    if (task.options.traces && words.length > 0) await streams.err(`+ ${words.join(' ')}\n`)
    const own = { ...task, ...streams, environment: given, variables: environment }
    return named(words, own, lastExitCode)
  })
}

async function named(words: readonly string[], task: Shell, lastExitCode: number): Promise<number> {
  if (words.length === 0) return 0
  // Without a number it is the exit code before it.
  if (words[0] === 'exit' && words.length === 1) throw new Exit(lastExitCode)
  if (words[0] === 'break' || words[0] === 'continue') return jump(words, task.loops ?? 0)
  // What is of the script changes its own variables.
  const own = { ...task, environment: task.variables }
  const [name = '', ...args] = words
  const body = task.defined.functions.get(name)
  if (body !== undefined) return call(body, name, args, own, lastExitCode)
  const builtIn = BUILT_IN.get(name)
  if (builtIn !== undefined) return builtIn(args, own, lastExitCode)
  try {
    return await task.defined.inForeground(() => run(words, task))
  } catch (error) {
    if (!(error instanceof UnknownCommand)) throw error
    task.place.onUnknown?.(error.command)
    await task.err(`${nameOf(task)}: ${error.command}: not found\n`)
    return 127
  }
}

type BuiltIn = (
  args: readonly string[],
  task: Shell,
  lastExitCode: number,
) => number | Promise<number>

/** What is of the script that runs, and of no program. */
const BUILT_IN: ReadonlyMap<string, BuiltIn> = new Map<string, BuiltIn>([
  ['local', local],
  ['return', leave],
  ['shift', shift],
  ['trap', trap],
  ['wait', wait],
])

/** For what the numbers name, as the last of them ended; without any for all that goes on in the background. A signal that is handled ends it. */
async function wait(numbers: readonly string[], task: Shell): Promise<number> {
  const unknown = numbers.find((text) => !/^\d+$/.test(text))
  if (unknown !== undefined) {
    task.place.onUnknown?.(`wait ${unknown}`)
    await task.err(`${nameOf(task)}: wait: ${unknown}: not known to simulated containers\n`)
    return 2
  }
  return task.defined.untilSignalled(jobsOf(numbers.map(Number), task.defined))
}

async function jobsOf(numbers: readonly number[], defined: Definitions): Promise<number> {
  let exitCode = 0
  for (const number of numbers) exitCode = await defined.job(number)
  if (numbers.length === 0) await defined.allJobs()
  return exitCode
}

/** `trap SCRIPT SIGNAL...`; `-` in the place of the script: as if there was none. */
function trap([script = '', ...signals]: readonly string[], task: Shell): number {
  const { defined, place } = task
  for (const name of signals.map(signalName)) {
    if (script === '-') defined.traps.delete(name)
    else defined.traps.set(name, script)
    if (name === 'TERM') place.onTrap?.(script === '-' ? undefined : handlerOf(script, task))
  }
  return 0
}

/** 128 and the number of SIGTERM. */
const TERMINATED_EXIT_CODE = 143

/** With what the script has set by then. Of what runs in the background it hears nothing; a `wait` of the script is over then. */
function handlerOf(script: string, task: Shell): TrapHandler {
  return (sleep) =>
    task.defined.onSignal(async () => {
      let isOver = true
      const exitCode = await exitCodeOf(async () => {
        const own = { ...task, place: { ...task.place, sleep } }
        const code = await runScript(script, own, 0, task.defined.copy())
        isOver = false
        return code
      })
      if (isOver) return exitCode
      task.defined.signalled(TERMINATED_EXIT_CODE)
      return undefined
    })
}

async function call(
  body: ShellCommand,
  name: string,
  parameters: readonly string[],
  task: Shell,
  lastExitCode: number,
): Promise<number> {
  const exitCode = await task.defined.call(parameters, () =>
    runAny(body, { ...task, loops: 0 }, lastExitCode),
  )
  if (exitCode !== undefined) return exitCode
  await task.err(`${nameOf(task)}: ${name}: too many functions within one another\n`)
  throw new Exit(2)
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
    parameters: task.defined.parameters,
    lastJob: task.defined.lastJob,
    async substitute(script) {
      const { printed, exitCode } = await taken((out) =>
        task.defined.inForeground(() =>
          runSubshell(script, { ...task, out, isRead: true }, lastExitCode),
        ),
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
