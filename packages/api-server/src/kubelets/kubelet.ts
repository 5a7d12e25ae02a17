/** What the server asks of the nodes' kubelets. Contract: docs/behaviour/simulation/kubelet.md, "Endpoints of the kubelet". */
import type { Stored } from '@gyropilot/schema/objects'

export interface ContainerLogRequest {
  readonly pod: Stored
  readonly container: string
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  readonly sinceMs?: number
  readonly tailLines?: number
  readonly limitBytes?: number
}

export interface ContainerCommand {
  readonly pod: Stored
  readonly container: string
  /** Empty for attach. */
  readonly command: readonly string[]
  readonly stdin: boolean
  readonly tty: boolean
}

/** What flows between a client and a process in a container. */
export interface ContainerStreams {
  /** Ends when the client closes its side; empty when stdin was not asked for. */
  readonly stdin: AsyncIterable<Uint8Array>
  /** Resolve when more may be written; what was not asked for is dropped. */
  stdout(bytes: Uint8Array): Promise<void>
  stderr(bytes: Uint8Array): Promise<void>
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
}

export interface PortStreams {
  /** Ends when the client closes its side. */
  readonly input: AsyncIterable<Uint8Array>
  output(bytes: Uint8Array): Promise<void>
  readonly signal: AbortSignal
}

/** How a command ended: its exit code, or why there is none. */
export type CommandEnd = { readonly exitCode: number } | { readonly error: string }

export interface Usage {
  readonly cpuNanoCores: number
  readonly memoryBytes: number
}

export interface UsageSummary {
  readonly node: Usage
  readonly pods: readonly {
    readonly namespace: string
    readonly name: string
    readonly containers: readonly ({ readonly name: string } & Usage)[]
  }[]
}

export interface Kubelet {
  /**
   * Lines as they are written, each with its line break; with `follow` until the container ends. Undefined: the container
   * has not started, or for `previous` there was none before.
   */
  logs(request: ContainerLogRequest): AsyncIterable<string> | undefined
  /** Undefined: no such container runs. What is returned runs the command, once. */
  exec(request: ContainerCommand): ((streams: ContainerStreams) => Promise<CommandEnd>) | undefined
  attach(
    request: ContainerCommand,
  ): ((streams: ContainerStreams) => Promise<CommandEnd>) | undefined
  /** Serves one connection to a port of the pod; resolves with a text when that is not possible. */
  forward(pod: Stored, port: number, streams: PortStreams): Promise<string | undefined>
  usage(): UsageSummary
}

export interface Kubelets {
  /** Undefined: nothing answers at the node's address. */
  kubeletOf(nodeName: string): Kubelet | undefined
}
