import { homedir } from 'node:os'
import { delimiter } from 'node:path'
import { FileError } from '../host-environment.ts'
import type { CommandRequest, CommandResult, HostEnvironment } from '../host-environment.ts'

/** The real machine. Made once in a binary. Node's modules are loaded when they are needed: many processes never do. */
export class SystemHost implements HostEnvironment {
  readonly pathListSeparator = delimiter

  get homeDirectory(): string {
    return homedir()
  }

  get workingDirectory(): string {
    return process.cwd()
  }

  get interactive(): boolean {
    return process.stdin.isTTY === true
  }

  env(name: string): string | undefined {
    return process.env[name]
  }

  async readTextFile(path: string): Promise<string> {
    try {
      const { readFile } = await import('node:fs/promises')
      return await readFile(path, 'utf8')
    } catch (error) {
      throw new FileError('open', path, (error as NodeJS.ErrnoException).code ?? 'EIO', {
        cause: error,
      })
    }
  }

  async writeTextFile(path: string, text: string): Promise<void> {
    try {
      const { writeFile } = await import('node:fs/promises')
      // Only the owner's, where it is new: what is written by this program has credentials in it.
      await writeFile(path, text, { mode: 0o600 })
    } catch (error) {
      throw new FileError('open', path, (error as NodeJS.ErrnoException).code ?? 'EIO', {
        cause: error,
      })
    }
  }

  async runCommand(request: CommandRequest): Promise<CommandResult> {
    const { spawn } = await import('node:child_process')
    return new Promise((resolve, reject) => {
      // Standard error is the user's: plug-ins ask for logins there.
      const child = spawn(request.command, request.args, {
        env: { ...process.env, ...request.env },
        stdio: [request.interactive ? 'inherit' : 'ignore', 'pipe', 'inherit'],
        windowsHide: true,
      })
      const pieces: Buffer[] = []
      child.stdout!.on('data', (piece: Buffer) => pieces.push(piece))
      child.on('error', (error: NodeJS.ErrnoException) =>
        reject(new FileError('exec', request.command, error.code ?? 'EIO', { cause: error })),
      )
      child.on('close', (code) =>
        resolve({ exitCode: code ?? -1, stdout: Buffer.concat(pieces).toString('utf8') }),
      )
    })
  }
}
