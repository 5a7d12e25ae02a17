/**
 * What the API server asks a node about its containers: logs, commands, ports, usage. Reached by direct calls, not by the
 * network. Contract: docs/behaviour/simulation/kubelet.md, "Endpoints of the kubelet".
 */
import { parseTime } from '@gyropilot/api'
import type { Container, Pod } from '@gyropilot/api'
import { sleep } from '@gyropilot/foundation'
import { scriptedAnswer } from '../behavior/behavior.ts'
import type { ScriptedAnswer } from '../behavior/behavior.ts'
import { programOf } from '../behavior/image-program.ts'
import { consoleOf, isInteractive } from '../running/local-pod.ts'
import { withTold } from '../running/told-lines.ts'
import type { LocalContainer } from '../running/local-pod.ts'
import type { NodeServices } from '../pod/node-services.ts'
import type { PodWorker } from '../pod/pod-worker.ts'
import { consumerPort } from '../commands/image-programs/agnhost-command.ts'
import { INTERRUPTED_EXIT_CODE } from '../shell/process.ts'
import {
  environmentOf,
  filesOf,
  printedBy,
  runInContainer,
} from '../container/container-commands.ts'
import type { Printed } from '../container/container-commands.ts'
import type {
  CommandEnd,
  CommandRequest,
  CommandRun,
  CommandStreams,
} from '../container/command-request.ts'
import { attach } from './attachment.ts'
import { LogReader, linesOf, runOf } from './container-log.ts'
import type { LogLine, LogOptions, LogSource } from './container-log.ts'
import type { Dial, PortStreams, Secure } from '../answers/port-answers.ts'
import type { AskedDatagram } from '../answers/agnhost-server.ts'
import { agnhostDatagram } from '../answers/agnhost-server.ts'
import { hostnameOf } from '../container/pod-names.ts'
import { corefileOf, zoneFrom } from '../network/name-server.ts'
import type { Zone } from '../network/name-server.ts'
import { openPort } from './opened-port.ts'
import type { SharedLoads } from './shared-loads.ts'
import { nodeUsage, podUsage } from './usage.ts'
import type { Usage } from './usage.ts'

interface LogRequest extends LogOptions {
  readonly pod: Pod
  readonly container: string
  readonly previous: boolean
}

/** What ports of pods can do beyond the simulation. */
interface Outside {
  readonly dial: Dial | undefined
  readonly secure: Secure | undefined
}

export class SimulatedKubelet {
  readonly #services: NodeServices
  readonly #workers: ReadonlyMap<string, PodWorker>
  readonly #loads: SharedLoads
  readonly #outside: Outside

  constructor(
    services: NodeServices,
    workers: ReadonlyMap<string, PodWorker>,
    loads: SharedLoads,
    outside: Outside = { dial: undefined, secure: undefined },
  ) {
    this.#loads = loads
    this.#services = services
    this.#workers = workers
    this.#outside = outside
  }

  logs(request: LogRequest): AsyncIterable<string> | undefined {
    const found = this.#find(request.pod, request.container)
    if (found === undefined || runOf(found.container, request.previous) === undefined) {
      return undefined
    }
    return this.#read(found.worker, found.container, request)
  }

  exec(request: CommandRequest): CommandRun | undefined {
    const found = this.#find(request.pod, request.container)
    if (found?.container.state.state !== 'running') return undefined
    const { worker, container } = found
    return async (streams) => {
      const behavior = worker.behavior.container(container.spec, container.role)
      const scripted = scriptedAnswer(behavior.exec, request.command)
      if (scripted !== undefined) return this.#answer(scripted, streams)
      return this.#run(worker, container, request, streams)
    }
  }

  /** A shell that was waiting for somebody; else what the program says from now on, and what is typed for it. */
  attach(request: CommandRequest): CommandRun | undefined {
    const found = this.#find(request.pod, request.container)
    const state = found?.container.state
    if (found === undefined || state?.state !== 'running') return undefined
    const { worker, container } = found
    if (request.stdin && isInteractive(container.spec)) {
      return async (streams) => {
        const end = await this.#run(worker, container, { ...request, command: ['sh'] }, streams)
        // Who only hangs up leaves the shell running for the next.
        if ('exitCode' in end && !streams.signal.aborted) container.finish?.(end.exitCode)
        // How a program ends is in the pod's status; attaching to it succeeded.
        return 'exitCode' in end ? { exitCode: 0 } : end
      }
    }
    const console = consoleOf(container, state.startedAtMs)
    if (console === undefined || container.spec.stdin !== true)
      return (streams) => this.#follow(worker, container, request, streams)
    const attachment = {
      ...request,
      once: container.spec.stdinOnce === true,
      interrupt: () => container.finish?.(INTERRUPTED_EXIT_CODE),
    }
    return async (streams) => {
      await attach(console, attachment, streams)
      if (container.consoles.includes(console)) return { exitCode: 0 }
      // It turned out to be none that can be simulated.
      return this.#follow(worker, container, request, streams)
    }
  }

  /** What the container says from now on. */
  async #follow(
    worker: PodWorker,
    container: LocalContainer,
    { tty }: CommandRequest,
    streams: CommandStreams,
  ): Promise<CommandEnd> {
    const fromNow = { follow: true, timestamps: false, previous: false, tailLines: 0 }
    const log = this.#read(worker, container, fromNow)
    const leave = (): void => void log.return()
    if (streams.signal.aborted) leave()
    streams.signal.addEventListener('abort', leave, { once: true })
    const lineEnd = tty ? '\r\n' : '\n'
    for await (const line of log) await streams.stdout(Buffer.from(line.replace(/\n$/, lineEnd)))
    return { exitCode: 0 }
  }

  async forward(pod: Pod, port: number, streams: PortStreams): Promise<string | undefined> {
    const worker = this.#workers.get(pod.metadata?.uid ?? '')
    const running = worker?.local.containers.some(({ state }) => state.state === 'running')
    if (worker === undefined || running !== true) {
      return `error forwarding port ${port} to pod ${pod.metadata?.name}: pod is not running`
    }
    const { clock } = this.#services
    return openPort(worker, port, streams, { clock, ...this.#outside })
  }

  /** What the pod answers to it; undefined: nothing. */
  async datagram(pod: Pod, asked: AskedDatagram): Promise<Uint8Array | undefined> {
    const worker = this.#workers.get(pod.metadata?.uid ?? '')
    for (const { spec, state, containerId = '' } of worker?.local.containers ?? []) {
      if (state.state !== 'running') continue
      const place = worker!.place(spec, containerId)
      const hostname = hostnameOf(place.pod, place.nodeName)
      const environment = await environmentOf(place)
      const said = agnhostDatagram(programOf(spec), { hostname, environment }, asked)
      if (said !== undefined) return Buffer.from(said)
    }
    return undefined
  }

  /** What a name server that runs in the pod has; undefined: none does. */
  async zone(pod: Pod): Promise<Zone | undefined> {
    const worker = this.#workers.get(pod.metadata?.uid ?? '')
    for (const { spec, state, containerId = '' } of worker?.local.containers ?? []) {
      const path = corefileOf(programOf(spec))
      if (path === undefined || state.state !== 'running') continue
      const files = await filesOf(worker!.place(spec, containerId))
      if (files.exists(path)) return zoneFrom(Buffer.from(await files.read(path)).toString())
    }
    return undefined
  }

  usage(): {
    readonly node: Usage
    readonly pods: readonly {
      readonly namespace: string
      readonly name: string
      readonly containers: readonly ({ readonly name: string } & Usage)[]
    }[]
  } {
    const nowMs = this.#services.clock.nowMs()
    const pods = [...this.#workers.values()].map(({ pod, local, behavior }) => {
      const running = local.containers.filter(({ state }) => state.state === 'running')
      const specs = running.map(({ spec }) => spec)
      const taken = running.map(({ spec, state, consumption }) =>
        consumerPort(programOf(spec)) !== undefined && state.state === 'running'
          ? consumption.usage(nowMs, state.startedAtMs)
          : undefined,
      )
      const sinceMs = parseTime(pod.status?.startTime) ?? local.startedAtMs
      const times = { nowMs, sinceMs, sharing: this.#loads.of(pod) }
      const usages = podUsage(pod, specs, behavior.usage, times, taken)
      return {
        namespace: pod.metadata?.namespace ?? '',
        name: pod.metadata?.name ?? '',
        containers: usages.map((usage, index) => ({ name: specs[index]!.name, ...usage })),
      }
    })
    const running = pods.filter(({ containers }) => containers.length > 0)
    return { node: nodeUsage(running.flatMap(({ containers }) => containers)), pods: running }
  }

  #find(
    pod: Pod,
    name: string,
  ): { readonly worker: PodWorker; readonly container: LocalContainer } | undefined {
    const worker = this.#workers.get(pod.metadata?.uid ?? '')
    const all = [...(worker?.local.containers ?? []), ...(worker?.local.ephemeral ?? [])]
    const container = all.find(({ spec }) => spec.name === name)
    return worker === undefined || container === undefined ? undefined : { worker, container }
  }

  #read(
    worker: PodWorker,
    container: LocalContainer,
    request: LogOptions & { readonly previous: boolean },
  ): LateReader {
    const { clock } = this.#services
    const begun = runOf(container, request.previous)
    const source = async (): Promise<LogSource> => {
      const startedAtMs = begun?.startedAtMs ?? 0
      const untilMs = (): number => clock.nowMs() + (request.follow ? LOOK_AHEAD_MS : 0)
      let script = await this.#script(worker, container, startedAtMs, untilMs())
      // The run may have ended since, or have been followed by others.
      const current = () =>
        [container.state, container.last].find(
          (run) =>
            run !== undefined && 'startedAtMs' in run && run.startedAtMs === begun?.startedAtMs,
        )
      const end = () => {
        const run = current()
        return run !== undefined && 'finishedAtMs' in run ? run.finishedAtMs : undefined
      }
      return {
        lines: (): readonly LogLine[] => {
          const finishedAtMs = end()
          const run = { startedAtMs }
          const lines = withTold(container, startedAtMs, script.lines)
          return linesOf(finishedAtMs === undefined ? run : { ...run, finishedAtMs }, lines)
        },
        lookAhead: async () => {
          if (script.isAll) return Infinity
          const knownMs = untilMs()
          script = await this.#script(worker, container, startedAtMs, knownMs)
          return script.isAll ? Infinity : knownMs
        },
        running: () => current() !== undefined && end() === undefined && !worker.left,
        onChange: (listener) => {
          const leave = worker.onChange(listener)
          const leaveConsole = consoleOf(container, startedAtMs)?.watch(listener)
          return () => {
            leave()
            leaveConsole?.()
          }
        },
      }
    }
    return new LateReader(async () => new LogReader(await source(), request, clock))
  }

  /** Lines of one run: scripted ones, else what the container's command prints, else who it is. */
  async #script(
    worker: PodWorker,
    container: LocalContainer,
    startedAtMs: number,
    untilMs: number,
  ): Promise<Printed> {
    const { spec, role } = container
    const { logs } = worker.behavior.container(spec, role)
    if (logs.length > 0) return { lines: logs, isAll: true }
    const console = consoleOf(container, startedAtMs)
    if (console !== undefined)
      return {
        get lines() {
          return console.lines
        },
        isAll: true,
      }
    const printed = await this.#printed(worker, spec, startedAtMs, untilMs)
    if (printed !== undefined) return printed
    const text = `simulated container ${spec.name} of image ${spec.image} started on node ${this.#services.nodeName}`
    return { lines: [{ atMs: 0, text, stream: 'stdout' }], isAll: true }
  }

  /** What the container's own command prints; undefined when it is none of the known ones. */
  async #printed(
    worker: PodWorker,
    spec: Container,
    startedAtMs: number,
    untilMs: number,
  ): Promise<Printed | undefined> {
    const words = programOf(spec)
    if (words.length === 0) return undefined
    return printedBy(words, worker.place(spec, ''), startedAtMs, untilMs)
  }

  async #answer(answer: ScriptedAnswer, streams: CommandStreams): Promise<CommandEnd> {
    await sleep(this.#services.clock, answer.durationMs, streams.signal)
    await streams.stdout(Buffer.from(answer.stdout))
    await streams.stderr(Buffer.from(answer.stderr))
    return { exitCode: answer.exitCode }
  }

  async #run(
    worker: PodWorker,
    container: LocalContainer,
    request: CommandRequest,
    streams: CommandStreams,
  ): Promise<CommandEnd> {
    return runInContainer(
      request,
      streams,
      worker.place(container.spec, container.containerId ?? ''),
    )
  }
}

/** How far a follower knows what a program that goes on will print. */
const LOOK_AHEAD_MS = 600_000

/** A reader that is prepared with the first line asked for, and can be left before. */
class LateReader implements AsyncIterableIterator<string> {
  readonly #prepared: Promise<LogReader>

  constructor(prepare: () => Promise<LogReader>) {
    this.#prepared = prepare()
    this.#prepared.catch(() => {})
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<string, undefined>> {
    return (await this.#prepared).next()
  }

  async return(): Promise<IteratorResult<string, undefined>> {
    return (await this.#prepared).return()
  }
}
