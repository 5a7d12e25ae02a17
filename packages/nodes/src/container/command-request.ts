/** A command that somebody runs in a container, and how it ends. */
import type { Pod } from '@gyropilot/api'

export interface CommandRequest {
  readonly pod: Pod
  readonly container: string
  readonly command: readonly string[]
  readonly stdin: boolean
  readonly tty: boolean
}

export interface CommandStreams {
  readonly stdin: AsyncIterable<Uint8Array>
  stdout(bytes: Uint8Array): Promise<void>
  stderr(bytes: Uint8Array): Promise<void>
  readonly signal: AbortSignal
}

export type CommandEnd = { readonly exitCode: number } | { readonly error: string }
export type CommandRun = (streams: CommandStreams) => Promise<CommandEnd>
