/** What a process may ask of the machine it runs on: handed in, so that tests and in-process clusters need no machine. */
export interface HostEnvironment {
  /** An environment variable; empty counts as set. */
  env(name: string): string | undefined
  /** UTF-8 text. Rejects with FileError. */
  readTextFile(path: string): Promise<string>
  /** Replaces the content of a file. Rejects with FileError. Absent where nothing may be written. */
  writeTextFile?(path: string, text: string): Promise<void>
  /** Runs a program without a shell and waits for its end. Rejects with FileError `ENOENT` when there is no such program. */
  runCommand(request: CommandRequest): Promise<CommandResult>
  /** Empty when unknown. */
  readonly homeDirectory: string
  readonly workingDirectory: string
  /** Between the paths of a list in a variable: `:` or `;`. */
  readonly pathListSeparator: string
  /** Standard input is a terminal: somebody can be asked. */
  readonly interactive: boolean
}

/** A program to run to its end, such as a credential plug-in. */
export interface CommandRequest {
  readonly command: string
  readonly args: readonly string[]
  /** Added to this process's own variables. */
  readonly env: Readonly<Record<string, string>>
  /** The program may talk to the user on standard input. */
  readonly interactive: boolean
}

/** How a program ended; what it wrote to stderr is not kept. */
export interface CommandResult {
  readonly exitCode: number
  readonly stdout: string
}

/** A file operation that failed, in the words of Go: `open <path>: no such file or directory`. */
export class FileError extends Error {
  /** `ENOENT`, `EACCES`, ... */
  readonly code: string
  readonly path: string

  constructor(operation: string, path: string, code: string, options?: ErrorOptions) {
    super(`${operation} ${path}: ${FILE_FAULTS[code] ?? code}`, options)
    this.name = 'FileError'
    this.code = code
    this.path = path
  }
}

const FILE_FAULTS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  EISDIR: 'is a directory',
  ENOTDIR: 'not a directory',
  EEXIST: 'file exists',
}
