/** One cluster for the tests of a file, and what it takes to drive kubectl against it. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startGyro } from './gyro-process.ts'
import type { Finished, GyroProcess } from './gyro-process.ts'

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
  const env = { ...process.env, KUBECONFIG: gyro.kubeconfig, ...more }
  const run = spawnSync('kubectl', args, { input, encoding: 'utf8', env, timeout: 60_000 })
  return { code: run.status ?? -1, stdout: run.stdout, stderr: run.stderr }
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

export function configMap(name: string, data: object, labels: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data }
}

/** `kubectl port-forward`; resolves when it listens on all its ports. `ended` is what it complained of. */
export async function startForward(
  words: readonly string[],
  more: NodeJS.ProcessEnv,
): Promise<{ readonly ports: readonly number[]; readonly ended: Promise<string> }> {
  const child = spawn('kubectl', ['port-forward', '--address=127.0.0.1', ...words], {
    env: { ...process.env, KUBECONFIG: gyro.kubeconfig, ...more },
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(said)))
  const ports: number[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /^Forwarding from 127\.0\.0\.1:(\d+)/.exec(line)?.[1]
    if (port !== undefined) ports.push(Number(port))
    if (ports.length === words.length - 1) break
  }
  child.stdout.resume()
  return { ports, ended }
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
