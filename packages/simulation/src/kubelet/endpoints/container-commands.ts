/** Commands in a simulated container, with its files and environment. Loaded when the first one is run. */
import type { Container, Pod } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { COMMANDS } from './commands.ts'
import { FileTree } from './file-tree.ts'
import type { Store } from './file-tree.ts'
import { PodSources, rootStore } from './pod-files.ts'
import { Keyboard } from './keyboard.ts'
import {
  INTERRUPTED_EXIT_CODE,
  Interrupted,
  UnknownCommand,
  runCommand,
  streamOf,
} from './shell.ts'
import type { Surroundings } from './shell.ts'
import type { CommandEnd, CommandRequest, CommandStreams } from './simulated-kubelet.ts'

export interface Place {
  readonly pod: Pod
  readonly container: Container
  readonly client: Client
  readonly clock: Clock
  readonly nodeName: string
  readonly volumes: Map<string, Store>
  nowMs(): number
  /** What earlier commands left. */
  readonly root?: Store | undefined
  readonly keepRoot?: (store: Store) => void
}

export async function runInContainer(
  request: CommandRequest,
  streams: CommandStreams,
  place: Place,
): Promise<CommandEnd> {
  const { clock } = place
  const keyboard = request.tty ? new Keyboard(streams.stdin) : undefined
  const stdin = keyboard ?? streams.stdin
  const surroundings = await surroundingsOf(place, (delayMs) => {
    const pause = (signal: AbortSignal): Promise<void> =>
      Number.isFinite(delayMs) ? sleep(clock, delayMs, signal) : ended(signal)
    return keyboard?.interruptible(streams.signal, pause) ?? pause(streams.signal)
  })
  const environment = await new PodSources(place.client, place.pod).environment(
    place.container,
    place.nodeName,
  )
  if (request.tty) environment.set('TERM', 'xterm')
  const bytes = (text: string | Uint8Array): Uint8Array => {
    const raw = typeof text === 'string' ? Buffer.from(text) : text
    return request.tty && !isShell(request.command)
      ? Buffer.from(Buffer.from(raw).toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1')
      : raw
  }
  const out = (text: string | Uint8Array): Promise<void> => streams.stdout(bytes(text))
  const err = request.tty ? out : (text: string) => streams.stderr(bytes(text))
  try {
    const exitCode = await runCommand(
      request.command,
      { stdin, out, err },
      surroundings,
      environment,
    )
    return { exitCode }
  } catch (error) {
    if (streams.signal.aborted) return { exitCode: 137 }
    if (error instanceof Interrupted) return { exitCode: INTERRUPTED_EXIT_CODE }
    if (!(error instanceof UnknownCommand)) throw error
    const known = [...COMMANDS.keys()].filter((name) => name !== '[').join(' ')
    return {
      error: `error executing command in container: exec: ${JSON.stringify(error.command)}: executable file not found in $PATH: this container is simulated and knows: ${known}`,
    }
  }
}

/** An interactive shell writes its own carriage returns. */
function isShell(command: readonly string[]): boolean {
  return command.length === 1 && /(^|\/)(sh|ash|bash)$/.test(command[0]!)
}

/** What a command prints before it sleeps or ends; undefined when it cannot be run here. */
export async function printedBy(
  words: readonly string[],
  place: Place,
): Promise<string | undefined> {
  let text = ''
  const out = async (chunk: string | Uint8Array): Promise<void> => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
  }
  const environment = await new PodSources(place.client, place.pod).environment(
    place.container,
    place.nodeName,
  )
  const surroundings = await surroundingsOf(place, () => Promise.reject(new Interrupted()))
  try {
    const streams = { stdin: streamOf(new Uint8Array(0)), out, err: out }
    await runCommand(words, streams, surroundings, environment)
  } catch (error) {
    if (error instanceof UnknownCommand) return undefined
    if (!(error instanceof Interrupted)) throw error
  }
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

async function surroundingsOf(
  place: Place,
  pause: (delayMs: number) => Promise<void>,
): Promise<Surroundings> {
  const { pod, container, client, nodeName, volumes } = place
  const root = place.root ?? rootStore(pod, container, nodeName)
  place.keepRoot?.(root)
  const mounts = await new PodSources(client, pod).mounts(container, volumes)
  const security = { ...pod.spec?.securityContext, ...container.securityContext }
  const program = [...(container.command ?? []), ...(container.args ?? [])].join(' ')
  return {
    commands: COMMANDS,
    files: new FileTree(root, mounts),
    hostname: pod.spec?.hostname ?? pod.metadata?.name ?? '',
    user: { uid: security.runAsUser ?? 0, gid: security.runAsGroup ?? security.runAsUser ?? 0 },
    program: program || (container.image ?? ''),
    nowMs: place.nowMs,
    sleep: pause,
  }
}

function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
