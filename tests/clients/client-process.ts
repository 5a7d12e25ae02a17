/** Clients of others: found or fetched by scripts/find-client.sh, run to their end beside a cluster. */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { repository } from '../end-to-end/gyro-process.ts'

/** Its path; one that cannot be had fails whoever asks, with the line that says why. */
export function findClient(name: string): string {
  const found = spawnSync(join(repository, 'scripts/find-client.sh'), [name], { encoding: 'utf8' })
  if (found.status !== 0) throw new Error(`no client ${name}: ${found.stderr.trim()}`)
  return found.stdout.trim()
}

interface Ended {
  readonly code: number | null
  readonly stdout: string
  /** Both streams, as they came. */
  readonly text: string
}

/** Beside the test, so that it can watch the cluster meanwhile. */
export function runClient(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
): Promise<Ended> {
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString()
    text += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => void (text += chunk.toString()))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve({ code, stdout, text }))
  })
}

/** What a program of tests/clients/programs says of itself: a line for each thing that worked. */
export function workedIn({ code, stdout, text }: Ended): readonly string[] {
  if (code !== 0) throw new Error(`the client ended with exit code ${code}:\n${text}`)
  return [...stdout.matchAll(/^ok (.*)$/gm)].map(([, what]) => what!)
}
