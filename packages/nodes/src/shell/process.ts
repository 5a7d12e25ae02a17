/** What commands are given, what they know of their place, and how they end other than by an exit code. */
import type { FileTree } from '../files/file-tree.ts'
import type { Guestbook } from './guestbook.ts'
import type { Input } from './input.ts'
import type { Machine } from './machine.ts'
import type { Incoming, Network } from './network.ts'
import type { ShellOptions } from './options.ts'

/** What a command knows of the place it runs in. */
export interface Surroundings {
  readonly commands: ReadonlyMap<string, Command>
  /** Absent: a command that would connect is not known. */
  readonly network?: Network
  readonly files: FileTree
  /** Where its programs begin. Absent: at the root. */
  readonly folder?: string
  /** With what volumes show by now; a program sees `files` as they were when it began. Absent: they do not change. */
  filesNow?(): Promise<FileTree>
  /** Its `sh` is dash. Absent: it has what busybox and bash have. */
  readonly hasDash?: boolean
  readonly hostname: string
  readonly user: { readonly uid: number; readonly gid: number; readonly groups: readonly number[] }
  /** The container's own command line. */
  readonly program: string
  nowMs(): number
  /** Rejects when the caller is gone. */
  sleep(delayMs: number): Promise<void>
  /** Between pieces of work: gives others a turn when this one has taken long. */
  readonly yieldIfLong: () => Promise<void> | undefined
  /** Told of what is to be done when the program is asked to end; undefined: the usual. Absent: it is never asked. */
  readonly onTrap?: ((handler: TrapHandler | undefined) => void) | undefined
  /** Told when something is to run beside the script; may throw. */
  readonly onBackground?: () => void
  /** Waits at a port for the next connection. Absent: nobody could open one. */
  readonly accept?: ((port: number) => Promise<Incoming>) | undefined
  /** That its programs may enter. Absent: they may not. */
  readonly machine?: Machine | undefined
  /** Says something in the name of the container's program. Absent: nobody would hear it. */
  readonly tell?: (bytes: Uint8Array) => Promise<void>
  /** A page of the API server, as JSON. Absent: there is none to ask. */
  readonly askServer?: ((path: string) => Promise<unknown>) | undefined
  /** Of a program that is one. */
  readonly guestbook?: Guestbook | undefined
  /** Told of what cannot be run here; may throw. Absent: scripts go on, as a shell without the program would. */
  readonly onUnknown?: (what: string) => void
}

/** Answers the exit code; undefined: the program goes on. It waits by `sleep`. */
export type TrapHandler = (sleep: (delayMs: number) => Promise<void>) => Promise<number | undefined>

export interface Process {
  /** Without the name. */
  readonly args: readonly string[]
  /** The name that it was called by. */
  readonly called?: string | undefined
  /** The name of the shell around it, with which its complaints begin. Default: sh. */
  readonly shell?: string | undefined
  readonly environment: Map<string, string>
  /** Of the shell around it; `export`, `read` and `unset` change them. */
  readonly variables: Map<string, string>
  readonly stdin: Input
  out(text: string | Uint8Array): Promise<void>
  /** What goes out is read by another command, or becomes a word. */
  readonly isRead?: boolean | undefined
  err(text: string): Promise<void>
  readonly place: Surroundings
  /** Of relative paths; `cd` changes it for the commands that follow. */
  readonly folder: { path: string }
  /** Of the shell around it; `set` changes them. */
  readonly options: ShellOptions
}

export function isDash({ called = 'sh', place }: Pick<Process, 'called' | 'place'>): boolean {
  return place.hasDash === true && /(?:^|\/)sh$/.test(called)
}

export function nameOf({ shell = 'sh' }: Pick<Process, 'shell'>): string {
  return shell
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

export type Streams = Pick<Process, 'stdin' | 'out' | 'err' | 'isRead'>
