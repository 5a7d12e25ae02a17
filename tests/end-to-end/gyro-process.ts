/** `gyro up` and kubectl as a user has them: processes, files, exit codes. */
import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export const repository = join(import.meta.dirname, '..', '..')

/** The kubectl under test: one from 1.32 to 1.36, see scripts/find-kubectl.sh. */
export const kubectlBinary = process.env['KUBECTL'] || 'kubectl'

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
  /** Of kubectl against this cluster, with a cache of its own. */
  readonly environment: NodeJS.ProcessEnv
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
  /** Watches a collection until `check` of its objects, as they are at a moment, answers something. */
  until<T>(
    what: string,
    withinMs: number,
    collection: string,
    check: (objects: readonly any[]) => T | undefined, // oxlint-disable-line typescript/no-explicit-any -- as above
  ): Promise<T>
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

const LONGEST_START_MS = 120_000

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
  // Whoever waits for a cluster that never gets ready keeps everybody waiting.
  const late = setTimeout(() => child.kill('SIGKILL'), LONGEST_START_MS)
  const banner = await new Promise<Record<string, unknown>>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as Record<string, unknown>
      if (said['type'] === 'ready') resolve(said)
      else lines.push(said)
    })
    child.once('exit', (code) =>
      reject(new Error(`gyro up ended with exit code ${code}: ${stderr}`)),
    )
  }).finally(() => clearTimeout(late))
  const server = String(banner['server'])
  const environment = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: join(folder, 'cache'),
  }
  const kubectl = (...words: readonly string[]): Finished =>
    finished(kubectlBinary, words, environment)
  const authorization = { authorization: `Bearer ${token}` }
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
    environment,
    managerPids: banner['managerPids'] as number[],
    lines,
    kubectl,
    ok,
    json: (...words) => JSON.parse(ok(...words, '-o', 'json')),
    apply(manifest) {
      const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest)
      const run = spawnSync(kubectlBinary, ['apply', '-f', '-'], {
        input: text,
        encoding: 'utf8',
        env: environment,
      })
      if (run.status !== 0) throw new Error(`kubectl apply ended with ${run.status}: ${run.stderr}`)
      return run.stdout
    },
    async until(what, withinMs, collection, check) {
      const { request } = await import('node:https')
      const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
      const url = `${server}${collection}${collection.includes('?') ? '&' : '?'}${query}&allowWatchBookmarks=true`
      const call = request(url, { ca: authorityOf(kubeconfig), headers: authorization })
      // Told by the end of the events; after the answer is found nobody asks.
      call.on('error', () => {})
      const timer = setTimeout(() => call.destroy(new Error('too late')), withinMs)
      const objects = new Map<string, Event['object']>()
      let complete = false
      try {
        const [response] = await once(call.end(), 'response')
        for await (const { type, object } of eventsOf(response.setEncoding('utf8'))) {
          if (type === 'BOOKMARK') complete = true
          else if (type === 'DELETED') objects.delete(object.metadata.uid)
          else objects.set(object.metadata.uid, object)
          const found = complete ? check([...objects.values()]) : undefined
          if (found !== undefined) return found
        }
        throw new Error('the watch ended')
      } catch (error) {
        const last = JSON.stringify([...objects.values()]).slice(0, 2_000)
        throw new Error(`not within ${withinMs} ms: ${what}; last seen: ${last}`, { cause: error })
      } finally {
        clearTimeout(timer)
        call.destroy()
      }
    },
    async request(path, { method = 'GET', body, contentType = 'application/json' } = {}) {
      const { request } = await import('node:https')
      return new Promise((resolve, reject) => {
        const call = request(
          `${server}${path}`,
          {
            method,
            ca: authorityOf(kubeconfig),
            headers: { ...authorization, 'content-type': contentType },
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

interface Event {
  readonly type: string
  readonly object: { readonly metadata: { readonly uid: string } }
}

async function* eventsOf(chunks: AsyncIterable<string>): AsyncGenerator<Event> {
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    for (const line of lines) yield JSON.parse(line) as Event
  }
}

function authorityOf(kubeconfig: string): string {
  const data = /certificate-authority-data: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))![1]!
  return Buffer.from(data, 'base64').toString()
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
