import { FileError } from '../host-environment.ts'
import type { CommandRequest, CommandResult, HostEnvironment } from '../host-environment.ts'

/** A machine made of values. `files` and `variables` may be changed while it is in use. */
export class FakeHost implements HostEnvironment {
  readonly files: Map<string, string>
  readonly variables: Map<string, string>
  readonly commands: CommandRequest[] = []
  readonly homeDirectory: string = '/home/alice'
  readonly workingDirectory: string = '/work-folder'
  readonly pathListSeparator = ':'
  readonly interactive: boolean = false
  onCommand: ((request: CommandRequest) => CommandResult | Promise<CommandResult>) | undefined

  constructor(
    files: Readonly<Record<string, string>> = {},
    variables: Readonly<Record<string, string>> = {},
  ) {
    this.files = new Map(Object.entries(files))
    this.variables = new Map(Object.entries(variables))
  }

  env(name: string): string | undefined {
    return this.variables.get(name)
  }

  async readTextFile(path: string): Promise<string> {
    const text = this.files.get(path)
    if (text === undefined) throw new FileError('open', path, 'ENOENT')
    return text
  }

  async writeTextFile(path: string, text: string): Promise<void> {
    this.files.set(path, text)
  }

  async runCommand(request: CommandRequest): Promise<CommandResult> {
    this.commands.push(request)
    if (this.onCommand === undefined) throw new FileError('exec', request.command, 'ENOENT')
    return this.onCommand(request)
  }
}
