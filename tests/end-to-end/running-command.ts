import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { Finished } from './gyro-process.ts'

const PATIENCE_MS = 60_000

export interface Running {
  readonly child: ChildProcess
  /** Resolves once both outputs together match; rejects when the process ends before, or nothing matches for a minute. */
  said(pattern: RegExp): Promise<string>
  readonly ended: Promise<Finished>
}

/** A command that goes on while the test does other things. */
export function startCommand(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Running {
  const child = spawn(command, args, { env })
  const said = { stdout: '', stderr: '', all: '' }
  const waiting = new Set<() => void>()
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text
      said.all += text
      for (const look of waiting) look()
    })
  }
  const ended = new Promise<Finished>((resolve) =>
    child.once('close', (code) => {
      resolve({ code: code ?? -1, stdout: said.stdout, stderr: said.stderr })
    }),
  )
  return {
    child,
    ended,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const refuse = (how: string): void => {
          clearTimeout(patience)
          reject(new Error(`${how} without ${pattern}:\n${said.all}`))
        }
        const patience = setTimeout(() => {
          // What goes on running would keep the test file from ending.
          child.kill()
          refuse('a minute went by')
        }, PATIENCE_MS)
        const look = (): void => {
          if (!pattern.test(said.all)) return
          waiting.delete(look)
          clearTimeout(patience)
          resolve(said.all)
        }
        waiting.add(look)
        look()
        void ended.then(() => refuse('ended'))
      }),
  }
}
