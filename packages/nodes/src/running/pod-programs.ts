/** What runs in the containers of one pod by the pod's own wish: their command lines, and the commands of probes and hooks. */
import type { Container } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import { scriptedAnswer } from '../behavior/behavior.ts'
import type { PodBehavior } from '../behavior/behavior.ts'
import { isAgnhost, programOf } from '../behavior/image-program.ts'
import {
  printedBy,
  repeatProgram,
  runOwnCommand,
  runProgram,
} from '../container/container-commands.ts'
import type { PastRun, Place } from '../container/container-commands.ts'
import { handlesSignals, showsFiles } from '../commands/commands.ts'
import { isGuestbook, meetsWhatChanges } from '../commands/image-programs/agnhost-command.ts'
import { Gathering } from '../files/gathered.ts'
import { logsRequests } from '../answers/agnhost-server.ts'
import { portProblem } from '../answers/port-answers.ts'
import { terminationPath } from '../container/pod-files.ts'
import { requestProblem } from '../network-commands/hook-request.ts'
import { answerProblem, mayAnswerBadly } from '../container/web-answers.ts'
import { connects } from '../network-commands/network-commands.ts'
import { ProgramConsole } from '../container/program-console.ts'
import type { TrapHandler } from '../shell/process.ts'
import { consoleOf } from './local-pod.ts'
import type { LocalContainer } from './local-pod.ts'

/** Programs that would print something else if they were run again for their log. */
const LEFT_TO_ONE_RUN = [connects, handlesSignals, logsRequests, meetsWhatChanges, showsFiles]
const RETRY_MS = 1_000
/** What the command of a probe or a hook may print. */
const MOST_PRINTED_BYTES = 1_048_576
const MOST_MESSAGE_BYTES = 4_096
/** Of a log in the place of a message. */
const MOST_LOG_LINES = 80
const MOST_LOG_BYTES = 2_048

interface PodProgramsOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly behavior: PodBehavior
  /** Where commands of a container run. */
  place(container: Container, containerId: string): Place
}

type Probe = NonNullable<Container['livenessProbe']>
type HttpGet = NonNullable<Probe['httpGet']>

interface CommandResult {
  readonly exitCode: number
  readonly output: string
}

export class PodPrograms {
  readonly #options: PodProgramsOptions

  constructor(options: PodProgramsOptions) {
    this.#options = options
  }

  /**
   * The container's own command line, in the run that began then (maybe in a simulation before this one); undefined when it
   * has none or it cannot be run here.
   */
  async program(
    container: LocalContainer,
    startedAtMs: number,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { spec } = container
    const words = programOf(spec)
    if (words.length === 0) return undefined
    const isKept = LEFT_TO_ONE_RUN.some((is) => is(words))
    if (spec.stdin !== true && !isKept)
      return this.#program(container, startedAtMs, undefined, signal)
    const { clock } = this.#options
    const console = new ProgramConsole(startedAtMs, () => clock.nowMs())
    if (spec.stdin !== true) console.close()
    container.consoles = [console, ...container.consoles.slice(0, 1)]
    try {
      const exitCode = await this.#program(container, startedAtMs, console, signal)
      if (exitCode === undefined) container.consoles = container.consoles.slice(1)
      return exitCode
    } finally {
      console.end()
    }
  }

  async #program(
    container: LocalContainer,
    startedAtMs: number,
    console: ProgramConsole | undefined,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { clock } = this.#options
    const { spec } = container
    const words = programOf(spec)
    const onTrap = (handler: TrapHandler | undefined): void => void (container.trap = handler)
    onTrap(undefined)
    const found = Promise.withResolvers<boolean>()
    container.runsHere = found.promise
    const { listeners, heard } = container
    listeners.clear()
    heard.clear()
    container.isEnding = false
    container.guestbook = isGuestbook(words) ? { values: new Map(), replicas: [] } : undefined
    const { guestbook } = container
    const watch = { guestbook, listeners, onTrap, onWait: () => found.resolve(!isAgnhost(spec)) }
    const elapsedMs = clock.nowMs() - startedAtMs
    const exitCode = await this.#untilAnswered(container, signal, (at) =>
      runProgram(words, at, elapsedMs, console, signal, watch),
    )
    onTrap(undefined)
    found.resolve(false)
    if (exitCode === undefined) container.runsHere = undefined
    return exitCode
  }

  /** Again, as long as the server does not answer what the environment or a volume refers to. */
  async #untilAnswered<T>(
    { spec, containerId = '' }: LocalContainer,
    signal: AbortSignal,
    run: (at: Place) => Promise<T>,
  ): Promise<T> {
    const { clock, logger, place } = this.#options
    for (;;) {
      const at = place(spec, containerId)
      try {
        return await run(at)
      } catch (error) {
        if (signal.aborted) throw error
        logger.error(error, 'Container program failed', { pod: at.pod.metadata?.uid ?? '' })
      }
      await sleep(clock, RETRY_MS, signal)
    }
  }

  /** A run that has ended, once more for the files that it left: at once, and nobody hears of it. */
  async repeat(container: LocalContainer, run: PastRun, signal: AbortSignal): Promise<void> {
    const words = programOf(container.spec)
    if (words.length === 0) return
    await this.#untilAnswered(container, signal, (at) => repeatProgram(words, at, run, signal))
  }

  /** Runs the command of a probe or a hook; undefined when it cannot be run here. */
  async exec(
    { spec, role, containerId = '' }: LocalContainer,
    command: readonly string[],
    signal: AbortSignal,
  ): Promise<CommandResult | undefined> {
    const { behavior, clock, place } = this.#options
    const scripted = scriptedAnswer(behavior.container(spec, role).exec, command)
    if (scripted !== undefined) {
      await sleep(clock, scripted.durationMs, signal)
      return { exitCode: scripted.exitCode, output: scripted.stdout + scripted.stderr }
    }
    const printed = new Gathering(MOST_PRINTED_BYTES)
    const print = (bytes: Uint8Array): void => printed.add(bytes)
    const exitCode = await runOwnCommand(command, place(spec, containerId), print, signal)
    if (exitCode === undefined) return undefined
    return { exitCode, output: Buffer.from(printed.bytes()).toString() }
  }

  /** Asks another pod as a hook does; what nobody knows of is taken to go well. Answers why it did not. */
  async request(
    { spec, containerId = '' }: LocalContainer,
    asked: HttpGet,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const network = this.#options.place(spec, containerId).network?.(signal)
    return network === undefined ? undefined : requestProblem(network, spec, asked)
  }

  /** Why a probe cannot reach its port, with the address that the node knows before the server does. */
  portProblem(
    { spec, containerId = '' }: LocalContainer,
    probe: Probe,
    opensNone: boolean,
  ): string | undefined {
    return portProblem(this.#options.place(spec, containerId).pod, spec, probe, opensNone)
  }

  /** What a probe of a port is answered badly, in a kubelet's words. */
  webProblem(
    { spec, state, isEnding, containerId = '' }: LocalContainer,
    { httpGet }: Probe,
  ): string | undefined {
    if (httpGet === undefined || !mayAnswerBadly(spec, httpGet)) return undefined
    if (state.state !== 'running') return undefined
    const run = { startedAtMs: state.startedAtMs, isEnding }
    return answerProblem(this.#options.place(spec, containerId), run, httpGet)
  }

  /**
   * What a container leaves behind when it ends: the end of its message file, else of its log where that is asked for.
   * Undefined: nothing, or the server did not answer what its log follows from.
   */
  async lastWords(
    container: LocalContainer,
    exitCode: number,
    ranForMs: number,
  ): Promise<string | undefined> {
    const { behavior, clock, place } = this.#options
    const { spec, role, containerId = '' } = container
    const at = place(spec, containerId)
    const file = at.storage.rootOf(spec.name, containerId)?.get(terminationPath(spec))
    if (file instanceof Uint8Array && file.length > 0)
      return Buffer.from(file.subarray(-MOST_MESSAGE_BYTES)).toString()
    if (spec.terminationMessagePolicy !== 'FallbackToLogsOnError' || exitCode === 0)
      return undefined
    const words = programOf(spec)
    const { logs } = behavior.container(spec, role)
    const startedAtMs = clock.nowMs() - ranForMs
    const printed =
      consoleOf(container, startedAtMs)?.lines ??
      (logs.length > 0 || words.length === 0 ? logs : await this.#printed(words, at, startedAtMs))
    const lines = (printed ?? []).filter(({ atMs }) => atMs <= ranForMs).slice(-MOST_LOG_LINES)
    const text = Buffer.from(lines.map((line) => `${line.text}\n`).join(''))
    return text.length === 0 ? undefined : text.subarray(-MOST_LOG_BYTES).toString()
  }

  async #printed(words: readonly string[], at: Place, startedAtMs: number) {
    const { clock, logger } = this.#options
    try {
      return (await printedBy(words, at, startedAtMs, clock.nowMs()))?.lines
    } catch (error) {
      logger.error(error, 'Container log is not known', { pod: at.pod.metadata?.uid ?? '' })
      return undefined
    }
  }
}
