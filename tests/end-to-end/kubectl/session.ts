/** One cluster for the tests of a file, and what it takes to drive kubectl against it. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { finished, kubectlBinary, startGyro } from '../gyro-process.ts'
import type { Finished, GyroProcess } from '../gyro-process.ts'
import { startCommand } from '../running-command.ts'
import type { Running } from '../running-command.ts'

/** Set by `begin`. */
export let gyro: GyroProcess
/** For files of the tests; removed by `finish`. */
export let folder: string

export async function begin(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'gyro-kubectl-'))
  gyro = await startGyro()
}

export async function finish(): Promise<void> {
  await gyro.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** Of the kubectl under test: 36 of v1.36.4. */
export const minor = Number(
  /"v1\.(\d+)\./.exec(finished(kubectlBinary, ['version', '--client', '-o', 'json']).stdout)?.[1],
)

/** Command lines, one blank between words, and what they print. `input` goes to every one. */
export function expectAll(
  table: readonly (readonly [string, RegExp | string])[],
  input = '',
): void {
  for (const [line, expected] of table) {
    const { code, stdout, stderr } = fed(input, line.split(' '))
    assert.equal(code, 0, `kubectl ${line}: ${stderr}`)
    if (typeof expected === 'string') assert.equal(stdout, expected, `kubectl ${line}`)
    else assert.match(stdout, expected, `kubectl ${line} printed\n${stdout.slice(0, 3000)}`)
  }
}

/** Command lines that fail, and what they say on standard error. */
export function refuseAll(
  table: readonly (readonly [string, RegExp | string])[],
  input = '',
): void {
  for (const [line, expected] of table) {
    const { code, stderr } = fed(input, line.split(' '))
    assert.equal(code, 1, `kubectl ${line}: ${stderr}`)
    if (typeof expected === 'string') assert.equal(stderr, expected, `kubectl ${line}`)
    else assert.match(stderr, expected, `kubectl ${line} said\n${stderr}`)
  }
}

/** Lines of output, split into cells at two or more blanks. */
export const cells = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/\s{2,}/))

export function file(name: string, content: object | string): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

/** kubectl with an input, and with more in its environment. */
export function fed(
  input: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Finished {
  const env = { ...gyro.environment, ...more }
  const run = spawnSync(kubectlBinary, args, { input, encoding: 'utf8', env, timeout: 60_000 })
  return { code: run.status ?? -1, stdout: run.stdout, stderr: run.stderr }
}

/** A kubectl that goes on while the test does other things. */
export const start = (
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
  command: string = kubectlBinary,
): Running => startCommand(command, args, { ...gyro.environment, ...more })

/**
 * What `rollout status` prints of the rollout that `change` begins. It waits with pods that are ready and not yet available until
 * kubectl has printed `midway`: a rollout is over before kubectl has started on a busy machine.
 */
export async function rolloutStatus(
  what: string,
  change: () => void,
  midway: RegExp,
): Promise<string> {
  const setMinReadySeconds = (seconds: number): void =>
    void gyro.ok('patch', what, '-p', JSON.stringify({ spec: { minReadySeconds: seconds } }))
  setMinReadySeconds(500)
  change()
  const status = start(['rollout', 'status', what])
  await status.said(midway)
  setMinReadySeconds(0)
  const { code, stdout, stderr } = await status.ended
  assert.equal(code, 0, stderr)
  return stdout
}

export function deployment(name: string, image = 'nginx:1.27', replicas = 2): object {
  const labels = { app: name }
  const container = { name: 'c', image, ports: [{ containerPort: 80 }] }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [container], terminationGracePeriodSeconds: 0 },
      },
    },
  }
}

export function configMap(name: string, data: object, labels?: object): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data }
}

/** `kubectl port-forward`; resolves when it listens on all its ports. `ended` is what it complained of. */
export async function startForward(
  words: readonly string[],
  more: NodeJS.ProcessEnv,
): Promise<{
  readonly ports: readonly number[]
  readonly ended: Promise<string>
  stop(): void
}> {
  const child = spawn(kubectlBinary, ['port-forward', '--address=127.0.0.1', ...words], {
    env: { ...gyro.environment, ...more },
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(said)))
  const ports: number[] = []
  const wanted = words.filter((word) => word.includes(':')).length
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port !== undefined) ports.push(Number(port))
    if (ports.length === wanted) break
  }
  child.stdout.resume()
  return { ports, ended, stop: () => void child.kill() }
}

export function fetched(port: number, path = '/x'): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve(text))
    }).on('error', reject)
  })
}
