/** Commands in a simulated container, with its files and environment: asked for from outside, and its own program. */
import { amountOf, resources } from '@gyropilot/api'
import type { Container, Pod } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import { sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { yieldIfLong } from '@gyropilot/runtime'
import type { ScriptedLine } from '../behavior/behavior.ts'
import { hasDash } from '../behavior/image-facts.ts'
import { programOf } from '../behavior/image-program.ts'
import { repositoryName } from '../behavior/usual-run.ts'
import { cgroupMount } from './cgroup-files.ts'
import { AGNHOST_COMMANDS } from '../commands/image-programs/agnhost-command.ts'
import { noNewPrivileges } from '../commands/image-programs/no-new-privileges.ts'
import { COMMANDS } from '../commands/commands.ts'
import { NETWORK_COMMANDS } from '../network-commands/network-commands.ts'
import type { Machine } from '../shell/machine.ts'
import type { Incoming, Network } from '../shell/network.ts'
import { FileTree, absolute } from '../files/file-tree.ts'
import { Input, inputOf } from '../shell/input.ts'
import { readsCommands } from '../shell/options.ts'
import { Keyboard } from './keyboard.ts'
import { typedLines } from './line-discipline.ts'
import { orMissing } from './missing.ts'
import { userOf } from './container-user.ts'
import { nextConnection } from '../answers/listeners.ts'
import type { Listeners } from '../answers/listeners.ts'
import { oomScoreOf } from './oom-score.ts'
import {
  PodSources,
  fillRoot,
  runtimeVariables,
  substituted,
  terminationPath,
} from './pod-files.ts'
import { hostnameOf } from './pod-names.ts'
import { PodStorage } from './pod-storage.ts'
import { MOST_PRINTED_CHARS, PrintedLines } from './printed-lines.ts'
import type { ProgramConsole } from './program-console.ts'
import { INTERRUPTED_EXIT_CODE, Interrupted, UnknownCommand } from '../shell/process.ts'
import { runCommand } from '../shell/run-command.ts'
import type { Surroundings } from '../shell/process.ts'
import type { CommandEnd, CommandRequest, CommandStreams } from './command-request.ts'

export interface Place {
  readonly pod: Pod
  readonly container: Container
  /** Of the run whose files are seen. */
  readonly containerId: string
  readonly storage: PodStorage
  readonly client: Client
  readonly clock: Clock
  readonly nodeName: string
  /** Absent: nothing connects. */
  readonly network?: ((signal: AbortSignal) => Network) | undefined
  /** That its programs may enter. Absent: they may not. */
  readonly machine?: Machine | undefined
  /** Says something in the name of its program. Absent: it is not running here. */
  tell?(bytes: Uint8Array): Promise<void>
  /** What the container runs with now. */
  resources(): Container['resources']
}

export async function runInContainer(
  request: Pick<CommandRequest, 'command' | 'tty'>,
  streams: CommandStreams,
  place: Place,
): Promise<CommandEnd> {
  const { clock } = place
  const input = withTurns(streams.stdin, clock)
  const keyboard = request.tty ? new Keyboard(input) : undefined
  const pause = (delayMs: number): Promise<void> => {
    const wait = (signal: AbortSignal): Promise<void> =>
      Number.isFinite(delayMs) ? sleep(clock, delayMs, signal) : ended(signal)
    return keyboard?.interruptible(streams.signal, wait) ?? wait(streams.signal)
  }
  const world = { pause, nowMs: () => clock.nowMs(), signal: streams.signal }
  const surroundings = await surroundingsOf(place, world)
  const environment = await environmentOf(place)
  if (request.tty) environment.set('TERM', 'xterm')
  const bytes = (text: string | Uint8Array): Uint8Array => {
    const raw = typeof text === 'string' ? Buffer.from(text) : text
    return request.tty && !isShell(request.command)
      ? Buffer.from(Buffer.from(raw).toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1')
      : raw
  }
  const out = async (text: string | Uint8Array): Promise<void> => {
    await streams.stdout(bytes(text))
    await yieldIfLong(clock)
  }
  const err = request.tty ? out : (text: string) => streams.stderr(bytes(text))
  const show = (text: string): Promise<void> => streams.stdout(Buffer.from(text))
  // A shell shows what is typed itself: it knows its prompt.
  const typed =
    keyboard === undefined || isShell(request.command) ? keyboard : typedLines(keyboard, show)
  const stdin = new Input(typed ?? input)
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
    const known = [...surroundings.commands.keys()].filter((name) => /^\w/.test(name)).join(' ')
    return {
      error: `error executing command in container: exec: ${JSON.stringify(error.command)}: executable file not found in $PATH: this container is simulated and knows: ${known}`,
    }
  }
}

/** An interactive shell writes its own carriage returns; its options say nothing of what it runs. */
function isShell([name = '', ...args]: readonly string[]): boolean {
  return /(^|\/)(sh|ash|bash)$/.test(name) && readsCommands(args)
}

interface ProgramWatch extends Pick<Surroundings, 'guestbook' | 'onTrap'> {
  /** By port: whom connections are handed to. Absent: there are none. */
  readonly listeners?: Listeners
  /** All that came before could be run here. */
  readonly onWait?: () => void
}

/**
 * The container's own command line, from its start to its end; answers its exit code. Undefined when any part of it cannot be
 * run here: what it does is then a guess. `elapsedMs` of its time have passed already, in a simulation before this one.
 * Without a console its input is at its end, and what it prints is found out when somebody asks.
 */
export async function runProgram(
  words: readonly string[],
  place: Place,
  elapsedMs: number,
  console: ProgramConsole | undefined,
  signal: AbortSignal,
  { guestbook, onTrap, onWait, listeners }: ProgramWatch = {},
): Promise<number | undefined> {
  const { clock } = place
  let aheadMs = elapsedMs
  const pause = (delayMs: number): Promise<void> => {
    onWait?.()
    if (!Number.isFinite(delayMs)) return ended(signal)
    const waitMs = Math.max(0, delayMs - aheadMs)
    aheadMs = Math.max(0, aheadMs - delayMs)
    return waitMs === 0 ? Promise.resolve() : sleep(clock, waitMs, signal)
  }
  const surroundings = await surroundingsOf(place, {
    pause,
    nowMs: () => clock.nowMs(),
    signal,
  })
  const out = async (text: string | Uint8Array): Promise<void> => {
    await console?.print(typeof text === 'string' ? Buffer.from(text) : text)
    await yieldIfLong(clock)
  }
  const stdin = console?.input ?? inputOf(new Uint8Array(0))
  const accept =
    listeners &&
    ((port: number): Promise<Incoming> => {
      onWait?.()
      return nextConnection(listeners, port, signal)
    })
  const own = { ...surroundings, guestbook, onTrap, accept }
  return exitCodeOf(words, { stdin, out, err: out }, own, place)
}

/**
 * A command that the pod itself asks for, of a probe or a hook; answers its exit code. Undefined when any part of it cannot be
 * run here: that is a program of the real image.
 */
export async function runOwnCommand(
  words: readonly string[],
  place: Place,
  print: (bytes: Uint8Array) => void,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { clock } = place
  const pause = (delayMs: number): Promise<void> =>
    Number.isFinite(delayMs) ? sleep(clock, delayMs, signal) : ended(signal)
  const surroundings = await surroundingsOf(place, {
    pause,
    nowMs: () => clock.nowMs(),
    signal,
  })
  const out = async (text: string | Uint8Array): Promise<void> => {
    print(typeof text === 'string' ? Buffer.from(text) : text)
    await yieldIfLong(clock)
  }
  const streams = { stdin: inputOf(new Uint8Array(0)), out, err: out }
  return knownExitCode(words, streams, surroundings, await environmentOf(place))
}

export interface PastRun {
  /** Both in whole seconds, where they are read from a status. */
  readonly startedAtMs: number
  readonly finishedAtMs: number
}

/**
 * A program that has come to its end runs once more for what it left behind: without waiting, at the times that it had, and no further
 * than it can have come. What it prints is known already.
 */
export async function repeatProgram(
  words: readonly string[],
  place: Place,
  { startedAtMs, finishedAtMs }: PastRun,
  signal: AbortSignal,
): Promise<void> {
  let atMs = startedAtMs
  const pause = async (delayMs: number): Promise<void> => {
    atMs += delayMs
    if (atMs > finishedAtMs + 1000) throw new Interrupted()
  }
  const out = async (): Promise<void> => yieldIfLong(place.clock)
  const unheard = { ...place, tell: async () => {} }
  const surroundings = await surroundingsOf(unheard, { pause, nowMs: () => atMs, signal })
  try {
    const stdin = inputOf(new Uint8Array(0))
    await exitCodeOf(words, { stdin, out, err: out }, surroundings, place)
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
  }
}

export interface Printed {
  readonly lines: readonly ScriptedLine[]
  /** Nothing comes after them: the program has ended by itself or prints no more. */
  readonly isAll: boolean
}

/**
 * What a program prints until that time and when, found by running it without waiting and without leaving anything behind.
 * Undefined when it cannot be run here.
 */
export async function printedBy(
  words: readonly string[],
  place: Place,
  startedAtMs: number,
  untilMs: number,
): Promise<Printed | undefined> {
  const printed = new PrintedLines()
  let atMs = 0
  let charsAtOnce = 0
  let isAll = true
  const pause = async (delayMs: number): Promise<void> => {
    if (!Number.isFinite(delayMs)) throw new Interrupted()
    if (startedAtMs + atMs + delayMs > untilMs) {
      isAll = false
      throw new Interrupted()
    }
    if (delayMs > 0) charsAtOnce = 0
    atMs += delayMs
  }
  const out = async (chunk: string | Uint8Array): Promise<void> => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    charsAtOnce += text.length
    // A simulated program does not need to print more at once.
    if (charsAtOnce > MOST_PRINTED_CHARS) throw new Interrupted()
    await yieldIfLong(place.clock)
    printed.add(atMs, text)
  }
  // What it would meet now is not what it met.
  const untouched = { ...place, storage: new PodStorage(), network: undefined }
  const world = { pause, nowMs: () => startedAtMs + atMs, signal: NEVER }
  const own = await surroundingsOf(untouched, world)
  // Times add up while one thing is done after the other.
  const onBackground = (): never => {
    throw new NotRunHere('&')
  }
  const surroundings = { ...own, onBackground }
  try {
    const streams = { stdin: inputOf(new Uint8Array(0)), out, err: out }
    const exitCode = await exitCodeOf(words, streams, surroundings, place)
    if (exitCode === undefined) return undefined
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error
  }
  return { lines: printed.lines, isAll }
}

async function exitCodeOf(
  words: readonly string[],
  streams: Parameters<typeof runCommand>[1],
  surroundings: Surroundings,
  place: Place,
): Promise<number | undefined> {
  const given = await givenVariables(place)
  const command = words.map((word) => substituted(word, given))
  return knownExitCode(command, streams, surroundings, await environmentOf(place))
}

async function knownExitCode(
  words: readonly string[],
  streams: Parameters<typeof runCommand>[1],
  surroundings: Surroundings,
  environment: ReadonlyMap<string, string>,
): Promise<number | undefined> {
  const onUnknown = (what: string): never => {
    throw new NotRunHere(what)
  }
  try {
    return await runCommand(words, streams, { ...surroundings, onUnknown }, environment)
  } catch (error) {
    if (error instanceof UnknownCommand || error instanceof NotRunHere) return undefined
    throw error
  }
}

class NotRunHere extends Error {}

export async function environmentOf(place: Place): Promise<Map<string, string>> {
  const { pod, nodeName } = place
  return new Map([...runtimeVariables(pod, nodeName), ...(await givenVariables(place))])
}

/** Those that `$(NAME)` refers to. Made once for each run: what they are made of may change, they do not. */
function givenVariables(place: Place): Promise<ReadonlyMap<string, string>> {
  const { client, pod, container, containerId, nodeName, storage } = place
  return storage.environment(container.name, containerId, () =>
    new PodSources(client, pod, () => storage).environment(container, nodeName),
  )
}

/** What a run has for itself. */
interface World {
  pause(delayMs: number): Promise<void>
  nowMs(): number
  readonly signal: AbortSignal
}

const NEVER = new AbortController().signal
/** Programs of images, by the image's name. */
const IMAGE_COMMANDS: ReadonlyMap<string, Surroundings['commands']> = new Map([
  ['agnhost', AGNHOST_COMMANDS],
  ['nonewprivs', new Map([['/nnp', noNewPrivileges]])],
])
const CONNECTED_COMMANDS = new Map([...COMMANDS, ...NETWORK_COMMANDS])
/** By image and by whether they connect. */
const commandsOfImages = new Map<string, Surroundings['commands']>()

function commandsOf({ image = '' }: Container, isConnected: boolean): Surroundings['commands'] {
  const usual = isConnected ? CONNECTED_COMMANDS : COMMANDS
  const name = repositoryName(image)
  const own = IMAGE_COMMANDS.get(name)
  if (own === undefined) return usual
  const key = `${name} ${isConnected}`
  let commands = commandsOfImages.get(key)
  if (commands === undefined) {
    commands = new Map([...usual, ...own])
    commandsOfImages.set(key, commands)
  }
  return commands
}

async function surroundingsOf(place: Place, world: World): Promise<Surroundings> {
  const { pause, nowMs, signal } = world
  const { pod, container, nodeName } = place
  const network = place.network?.(signal)
  const program = programOf(container).join(' ')
  return {
    commands: commandsOf(container, network !== undefined),
    ...(network === undefined ? {} : { network }),
    ...(place.machine && { machine: place.machine }),
    ...(place.tell && { tell: (bytes: Uint8Array) => place.tell!(bytes) }),
    askServer: (path: string) => place.client.raw({ method: 'GET', path }),
    files: await filesOf(place),
    filesNow: async () => filesOf({ ...place, pod: (await podNow(place)) ?? pod }),
    hasDash: hasDash(container.image),
    folder: absolute(container.workingDir ?? '', ''),
    hostname: hostnameOf(pod, nodeName),
    user: userOf(pod, container),
    program: program || (container.image ?? ''),
    nowMs,
    sleep: pause,
    yieldIfLong: () => yieldIfLong(place.clock),
  }
}

/** Its fields may have changed since the run began; undefined: it is gone. */
async function podNow({ client, pod: { metadata } }: Place): Promise<Pod | undefined> {
  const pods = client.resource(resources.pods, metadata?.namespace)
  const found = await orMissing(pods.get(metadata?.name ?? ''))
  return found?.metadata?.uid === metadata?.uid ? found : undefined
}

export async function filesOf(place: Place): Promise<FileTree> {
  const { pod, container, containerId, client, nodeName, storage } = place
  const root = storage.root(container.name, containerId, (store) => {
    fillRoot(store, pod, container, nodeName)
    store.set('/proc/1/oom_score_adj', async () => {
      const node = await client.resource(resources.nodes).get(nodeName)
      const bytes = amountOf('memory', node.status?.capacity?.['memory'] ?? '0')
      return Buffer.from(`${oomScoreOf(pod, container, bytes)}\n`)
    })
  })
  const mounts = await new PodSources(client, pod, () => storage).mounts(
    container,
    nodeName,
    containerId,
  )
  const readOnly = container.securityContext?.readOnlyRootFilesystem === true
  const said = terminationPath(container)
  const files = new FileTree(root, [cgroupMount(() => place.resources()), ...mounts], {
    readOnly,
    isKept: (path) => path === '/etc/hosts' || path === said || path.startsWith('/dev/'),
  })
  makeWorkingFolder(files, absolute(container.workingDir ?? '', ''))
  return files
}

/** By the runtime, in a volume too; that of the container itself has it already. */
function makeWorkingFolder(files: FileTree, path: string): void {
  if (!files.exists(path) && !files.isReadOnly(path)) files.makeFolder(path, true)
}

async function* withTurns(
  chunks: AsyncIterable<Uint8Array>,
  clock: Clock,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    await yieldIfLong(clock)
    yield chunk
  }
}

export function ended(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
