/** What runs in the containers of one pod by the pod's own wish: their command lines, and the commands of probes and hooks. */
import type { Container } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import type { Clock, Logger } from '@gyropilot/foundation'
import { scriptedAnswer } from '../behavior/behavior.ts'
import type { PodBehavior } from '../behavior/behavior.ts'
import { runOwnCommand, runProgram } from '../container/container-commands.ts'
import type { Place } from '../container/container-commands.ts'
import { Gathering } from '../container/gathered.ts'
import type { LocalContainer } from './local-pod.ts'

const RETRY_MS = 1_000
/** What the command of a probe or a hook may print. */
const MOST_PRINTED_BYTES = 1_048_576

export interface PodProgramsOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly behavior: PodBehavior
  /** Where commands of a container run. */
  place(container: Container, containerId: string): Place
}

export interface CommandResult {
  readonly exitCode: number
  readonly output: string
}

export class PodPrograms {
  readonly #options: PodProgramsOptions

  constructor(options: PodProgramsOptions) {
    this.#options = options
  }

  /** Runs the container's own command line; undefined when it has none or it cannot be run here. */
  async program(
    { spec, containerId = '' }: LocalContainer,
    elapsedMs: number,
    signal: AbortSignal,
  ): Promise<number | undefined> {
    const { clock, logger, place } = this.#options
    const words = [...(spec.command ?? []), ...(spec.args ?? [])]
    if (words.length === 0) return undefined
    for (;;) {
      const at = place(spec, containerId)
      try {
        return await runProgram(words, at, elapsedMs, signal)
      } catch (error) {
        if (signal.aborted) throw error
        // The server did not answer what the environment or a volume refers to.
        logger.error(error, 'Container program failed', { pod: at.pod.metadata?.uid ?? '' })
      }
      await sleep(clock, RETRY_MS, signal)
    }
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
}
