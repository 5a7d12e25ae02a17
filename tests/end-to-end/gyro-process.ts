/** `gyro up` and kubectl as a user has them: processes, files, exit codes. */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export const repository = join(import.meta.dirname, '..', '..')

export interface Finished {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export interface GyroProcess {
  readonly process: ChildProcess
  readonly server: string
  readonly token: string
  readonly kubeconfig: string
  readonly managerPids: readonly number[]
  /** Lines of --output json after the banner, as objects. */
  readonly lines: readonly Record<string, unknown>[]
  /** Rejects nothing: look at `code`. */
  kubectl(...args: readonly string[]): Finished
  /** Runs kubectl and fails the test when its exit code is not 0. */
  ok(...args: readonly string[]): string
  json(...args: readonly string[]): any // oxlint-disable-line typescript/no-explicit-any -- what kubectl prints
  apply(manifest: object | string): string
  request(
    path: string,
    init?: { method?: string; body?: unknown; contentType?: string },
  ): Promise<{ status: number; body: any }> // oxlint-disable-line typescript/no-explicit-any -- as above
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts a cluster on a free port; `folder` holds its kubeconfig and is removed by `stop`. */
export async function startGyro(args: readonly string[] = []): Promise<GyroProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'gyro-test-'))
  const kubeconfig = join(folder, 'kubeconfig')
  const token = 'end-to-end-token'
  const all = [
    'up',
    '--port=0',
    `--kubeconfig=${kubeconfig}`,
    `--token=${token}`,
    '--output=json',
    ...args,
  ]
  const child = spawn(join(repository, 'bin/gyro'), all, { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: Record<string, unknown>[] = []
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const banner = await new Promise<Record<string, unknown>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as Record<string, unknown>
      if (said['type'] === 'ready') resolve(said)
      else lines.push(said)
    })
    child.once('exit', (code) =>
      reject(new Error(`gyro up ended with exit code ${code}: ${stderr}`)),
    )
  })
  const server = String(banner['server'])
  const kubectl = (...words: readonly string[]): Finished =>
    finished('kubectl', words, { ...process.env, KUBECONFIG: kubeconfig })
  const ok = (...words: readonly string[]): string => {
    const { code, stdout, stderr: said } = kubectl(...words)
    if (code !== 0)
      throw new Error(`kubectl ${words.join(' ')} ended with exit code ${code}: ${said}`)
    return stdout
  }
  return {
    process: child,
    server,
    token,
    kubeconfig,
    managerPids: banner['managerPids'] as number[],
    lines,
    kubectl,
    ok,
    json: (...words) => JSON.parse(ok(...words, '-o', 'json')),
    apply(manifest) {
      const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest)
      const run = spawnSync('kubectl', ['apply', '-f', '-'], {
        input: text,
        encoding: 'utf8',
        env: { ...process.env, KUBECONFIG: kubeconfig },
      })
      if (run.status !== 0) throw new Error(`kubectl apply ended with ${run.status}: ${run.stderr}`)
      return run.stdout
    },
    async request(path, { method = 'GET', body, contentType = 'application/json' } = {}) {
      const { request } = await import('node:https')
      const ca = /certificate-authority-data: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))![1]!
      return new Promise((resolve, reject) => {
        const call = request(
          `${server}${path}`,
          {
            method,
            ca: Buffer.from(ca, 'base64').toString(),
            headers: { authorization: `Bearer ${token}`, 'content-type': contentType },
          },
          (response) => {
            let text = ''
            response.on('data', (chunk: Buffer) => (text += chunk.toString()))
            response.on('end', () =>
              resolve({ status: response.statusCode ?? 0, body: parsed(text) }),
            )
          },
        )
        call.on('error', reject)
        call.end(
          body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
        )
      })
    },
    stop(signal = 'SIGINT') {
      return new Promise((resolve) => {
        const done = (code: number | null): void => {
          rmSync(folder, { recursive: true, force: true })
          resolve(code)
        }
        if (child.exitCode !== null || child.signalCode !== null) return done(child.exitCode)
        child.once('exit', done)
        child.kill(signal)
      })
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function finished(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Finished {
  const run = spawnSync(command, args, { encoding: 'utf8', env, timeout: 120_000 })
  if (run.error) throw run.error
  return { code: run.status ?? -1, stdout: run.stdout, stderr: run.stderr }
}

/** Asks until `check` answers something, at most so long; the world outside has no other way to say that it is done. */
export async function eventually<T>(
  what: string,
  withinMs: number,
  check: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const untilMs = performance.now() + withinMs
  for (;;) {
    const found = await check()
    if (found !== undefined) return found
    if (performance.now() > untilMs) throw new Error(`not within ${withinMs} ms: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}
