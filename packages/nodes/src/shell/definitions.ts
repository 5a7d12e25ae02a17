/** What a script has said it will need: functions, what it does upon signals, and the parameters that it was given. */
import { Exit } from './process.ts'
import type { Process } from './process.ts'
import type { Command } from './script.ts'

/** Numbers of processes begin behind it. */
const LAST_OTHER_PROCESS = 7
/** `wait` for a number that is none of the shell's own. */
const NO_JOB_EXIT_CODE = 127

/** Deeper than any script that comes to an end here. */
const MOST_CALLS = 100

export class Definitions {
  readonly functions: Map<string, Command>
  /** Scripts, by the name of the signal; EXIT: at the end of the script. */
  readonly traps = new Map<string, string>()
  /** `$1` and so on, of the script or of the function that is called. */
  parameters: readonly string[]
  #calls = 0
  /** What goes back to what it was when the function that runs ends. Undefined: none runs. */
  #locals: Map<string, () => void> | undefined
  /** What goes on in the background, by its number. */
  readonly #jobs = new Map<number, Promise<number>>()
  /** Shared by all shells within one another. */
  readonly #processes: { last: number }
  #lastJob: number | undefined
  #failure: Error | undefined
  /** How many commands within one another the script waits for. */
  #foreground = 0
  /** What is done upon signals that came meanwhile. */
  readonly #signals: (() => Promise<void>)[] = []
  /** Of those who wait for jobs. */
  readonly #waits = new Set<(exitCode: number) => void>()

  constructor(
    parameters: readonly string[] = [],
    functions: ReadonlyMap<string, Command> = new Map(),
    processes = { last: LAST_OTHER_PROCESS },
  ) {
    this.parameters = parameters
    this.functions = new Map(functions)
    this.#processes = processes
  }

  /** For a shell within this one, which is not told of its signals. */
  copy(): Definitions {
    const copy = new Definitions(this.parameters, this.functions, this.#processes)
    copy.#lastJob = this.#lastJob
    return copy
  }

  /** Runs beside the script. What a command of it throws, other than an exit code, the script throws at its next step. */
  begin(job: Promise<number>): void {
    this.#lastJob = ++this.#processes.last
    this.#jobs.set(
      this.#lastJob,
      job.catch((error: unknown) => {
        this.#failure = error as Error
        return 0
      }),
    )
  }

  /** `$!`: of what was begun last, also by the shell around this one. */
  get lastJob(): number | undefined {
    return this.#lastJob
  }

  async allJobs(): Promise<void> {
    await Promise.all(this.#jobs.values())
    this.check()
  }

  /** How that one ended. */
  async job(number: number): Promise<number> {
    const exitCode = await this.#jobs.get(number)
    this.check()
    return exitCode ?? NO_JOB_EXIT_CODE
  }

  /** A command that the script waits for. Signals that come meanwhile are handled when it is over, as in every shell. */
  async inForeground(act: () => Promise<number>): Promise<number> {
    this.#foreground++
    let exitCode: number
    try {
      exitCode = await act()
    } finally {
      this.#foreground--
    }
    while (this.#foreground === 0 && this.#signals.length > 0) await this.#signals.shift()!()
    return exitCode
  }

  /** At once, or when the command that the script waits for is over. An exit code that it answers ends the script. */
  onSignal(handle: () => Promise<number | undefined>): Promise<number | undefined> {
    if (this.#foreground === 0) return handle()
    const handled = Promise.withResolvers<number | undefined>()
    this.#signals.push(async () => {
      handled.resolve(handle())
      const exitCode = await handled.promise.catch(() => undefined)
      if (exitCode !== undefined) throw new Exit(exitCode)
    })
    return handled.promise
  }

  /** What is waited for, unless a signal is handled before. */
  async untilSignalled(waiting: Promise<number>): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>()
    this.#waits.add(resolve)
    try {
      return await Promise.race([waiting, promise])
    } finally {
      this.#waits.delete(resolve)
    }
  }

  /** A signal was handled. */
  signalled(exitCode: number): void {
    for (const leave of this.#waits) leave(exitCode)
  }

  check(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Until the end of the function that runs it has a value of its own. */
  keep(name: string, variables: Map<string, string>): void {
    if (this.#locals === undefined || this.#locals.has(name)) return
    const before = variables.get(name)
    this.#locals.set(name, () => {
      if (before === undefined) variables.delete(name)
      else variables.set(name, before)
    })
  }

  /** `undefined`: too many are within one another. */
  async call(
    parameters: readonly string[],
    act: () => Promise<number>,
  ): Promise<number | undefined> {
    if (this.#calls >= MOST_CALLS) return undefined
    const [outer, outerLocals] = [this.parameters, this.#locals]
    const locals = new Map<string, () => void>()
    this.parameters = parameters
    this.#locals = locals
    this.#calls++
    try {
      return await act()
    } catch (error) {
      if (!(error instanceof Return)) throw error
      return error.exitCode
    } finally {
      this.#calls--
      this.parameters = outer
      this.#locals = outerLocals
      for (const restore of locals.values()) restore()
    }
  }
}

/** What commands of a script are given. */
export interface Shell extends Omit<Process, 'args'> {
  readonly defined: Definitions
  /** What is asked whether it fails does not end the script by failing. */
  readonly isAsked?: boolean
  /** How many are around, in this script and shell. */
  readonly loops?: number
}

/** `return` ends the function around it. */
export class Return extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`return ${exitCode}`)
    this.exitCode = exitCode
  }
}

const NUMBERS: Readonly<Record<string, string>> = {
  0: 'EXIT',
  1: 'HUP',
  2: 'INT',
  3: 'QUIT',
  15: 'TERM',
}

/** `SIGTERM`, `TERM` and `15` are one. */
export function signalName(text: string): string {
  return NUMBERS[text] ?? text.toUpperCase().replace(/^SIG/, '')
}
