/** The kube-controller-manager binary as a service manager has it. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { request } from 'node:https'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { repository } from './gyro-process.ts'

interface ManagerAnswer {
  readonly status: number
  readonly body: string
}

export interface ManagerProcess {
  readonly process: ChildProcess
  /** Of standard error. */
  readonly log: string[]
  /** The HTTPS port, once it is open. Rejects when the process ends first. */
  readonly port: Promise<number>
  /** Resolves with the first line that has `text`. Rejects when the process ends first. */
  logged(text: string): Promise<string>
  /** The exit code. */
  readonly ended: Promise<number | null>
  get(path: string, options?: RequestOptions): Promise<ManagerAnswer>
}

interface RequestOptions {
  readonly token?: string
  readonly method?: string
  readonly body?: string
  readonly cert?: string
  readonly key?: string
}

/** Listens on the loopback, unless `args` say otherwise. `command` is that of kube-controller-manager by default. */
export function startManager(
  args: readonly string[],
  command: readonly string[] = [join(repository, 'bin/kube-controller-manager')],
): ManagerProcess {
  const [program = '', ...first] = command
  const child = spawn(program, [...first, '--bind-address=127.0.0.1', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const log: string[] = []
  const waiting = new Set<(line: string | undefined) => void>()
  createInterface({ input: child.stderr }).on('line', (line) => {
    log.push(line)
    for (const tell of waiting) tell(line)
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      for (const tell of waiting) tell(undefined)
      resolve(code)
    })
  })
  const logged = (text: string): Promise<string> => {
    const found = log.find((line) => line.includes(text))
    if (found !== undefined) return Promise.resolve(found)
    return new Promise((resolve, reject) => {
      const tell = (line: string | undefined): void => {
        if (line !== undefined && !line.includes(text)) return
        waiting.delete(tell)
        if (line !== undefined) resolve(line)
        else reject(new Error(`the manager ended without logging ${text}:\n${log.join('\n')}`))
      }
      waiting.add(tell)
    })
  }
  const port = logged('Serving securely').then((line) => Number(/port=(\d+)/.exec(line)![1]))
  port.catch(() => {})
  return {
    process: child,
    log,
    port,
    logged,
    ended,
    get: async (path, options) => fetchPage(await port, path, options),
  }
}

function fetchPage(
  port: number,
  path: string,
  { token, method = 'GET', body, cert, key }: RequestOptions = {},
): Promise<ManagerAnswer> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const call = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        headers,
        cert,
        key,
        rejectUnauthorized: false,
        agent: false,
      },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
      },
    )
    call.on('error', reject)
    call.end(body)
  })
}
