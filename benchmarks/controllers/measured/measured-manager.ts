/** A controller manager as a process of its own: what it costs, by the account of the kernel and by its own metrics. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { openSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountOf } from '../../load/process-account.ts'

const PATIENCE_MS = 60_000
/** Starts take some 300 ms: they are told apart by less than that. */
const ASK_EVERY_MS = 10
const LONG_TURN_SECONDS = 0.05

export interface Cost {
  readonly cpuSeconds: number
  readonly peakMebibytes: number
  readonly residentMebibytes: number
  /** Requests by method, refused ones included. */
  readonly requests: Readonly<Record<string, number>>
}

/** `command` must name its HTTPS port with --secure-port, and the server must know `token` well enough to show metrics to it. */
export class MeasuredManager {
  readonly #child: ChildProcess
  readonly #port: number
  readonly #token: string

  private constructor(child: ChildProcess, port: number, token: string) {
    this.#child = child
    this.#port = port
    this.#token = token
  }

  /** Resolves when it serves. Its log is in the system's temporary directory. */
  static async start(command: readonly string[], token: string): Promise<MeasuredManager> {
    const [file = '', ...args] = command
    const port = Number(/--secure-port=(\d+)/.exec(command.join(' '))?.[1])
    if (!(port > 0)) throw new Error('the command must have --secure-port=PORT')
    const log = openSync(join(tmpdir(), 'measured-manager.log'), 'w')
    const child = spawn(file, args, { stdio: ['ignore', log, log] })
    const manager = new MeasuredManager(child, port, token)
    for (let waitedMs = 0; ; waitedMs += ASK_EVERY_MS) {
      if (child.exitCode !== null) throw new Error(`the manager ended with ${child.exitCode}`)
      const answer = await manager.#get('/healthz').catch(() => '')
      if (answer === 'ok') return manager
      if (waitedMs > PATIENCE_MS) throw new Error('the manager does not serve')
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS))
    }
  }

  async cost(): Promise<Cost> {
    const requests: Record<string, number> = {}
    for (const line of (await this.#get('/metrics')).split('\n')) {
      const found = /^rest_client_requests_total\{.*method="([A-Z]+)".*\} (\S+)$/.exec(line)
      if (found !== null) requests[found[1]!] = (requests[found[1]!] ?? 0) + Number(found[2])
    }
    return { ...accountOf(this.#child.pid!), requests }
  }

  /** How often its event loop stood still, by how long; empty for a program without one. */
  async stalls(): Promise<string> {
    const buckets = [
      ...(await this.#get('/metrics')).matchAll(
        /^gyropilot_event_loop_delay_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm,
      ),
    ].map(([, bound, count]) => ({ bound: bound!, count: Number(count) }))
    return buckets
      .map(({ bound, count }, index) => ({
        text: `up to ${bound} s`,
        count: count - (buckets[index - 1]?.count ?? 0),
        bound,
      }))
      .filter(({ count, bound }) => count > 0 && !(Number(bound) < LONG_TURN_SECONDS))
      .map(({ text, count }) => `${count} ${text}`)
      .join(', ')
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGTERM')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5_000)
    await ended
    clearTimeout(timer)
  }

  #get(path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1',
        port: this.#port,
        path,
        rejectUnauthorized: false,
        headers: { authorization: `Bearer ${this.#token}` },
      }
      request(options, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('end', () => resolve(Buffer.concat(chunks).toString()))
      })
        .on('error', reject)
        .end()
    })
  }
}

/** What came between two accounts. The peak is that of the whole life. */
export function costBetween(before: Cost, after: Cost): Cost {
  const requests: Record<string, number> = {}
  for (const [method, count] of Object.entries(after.requests)) {
    const more = count - (before.requests[method] ?? 0)
    if (more > 0) requests[method] = more
  }
  return {
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    peakMebibytes: after.peakMebibytes,
    residentMebibytes: after.residentMebibytes,
    requests,
  }
}

export function describeCost({ cpuSeconds, peakMebibytes, requests }: Cost): string {
  const calls = Object.entries(requests)
    .toSorted()
    .map(([method, count]) => `${method} ${count}`)
  return `${cpuSeconds.toFixed(1)} s CPU, peak ${peakMebibytes.toFixed(0)} MiB, ${calls.join(', ')}`
}
