/** `gyro up --detach`: starts the same command as a process of its own and returns when its cluster is ready. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join, resolve } from 'node:path'
import { fileProblem, makeDirectory } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { ClusterRegistry } from '../running/registry.ts'
import { withoutToken } from '../running/running-cluster.ts'
import type { RunningCluster } from '../running/running-cluster.ts'
import { ownCommand } from './own-command.ts'
import { LOG_VARIABLE, placeOf } from './place.ts'
import { withStartLock } from './start-lock.ts'
import type { BannerFacts } from './terminal.ts'
import { isSameCluster } from './up-options.ts'
import type { UpOptions } from './up-options.ts'
import type { World } from './world.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A second one with the same flags finds the first and is content; with others it is refused. */
export async function startDetached(
  args: readonly string[],
  options: UpOptions,
  { clock, terminal }: World,
): Promise<void> {
  const registry = ClusterRegistry.ofUser()
  const folder = process.cwd()
  const log = resolve(placeOf(options), 'up.log')
  const { directory } = registry
  const facts = await withStartLock({ directory, folder, clock }, async () => {
    const running = registry.running().find((cluster) => cluster.folder === folder)
    if (running !== undefined) return alreadyThere(running, args, options)
    const child = spawned(args, log, options)
    const outcome = await ready(child)
    child.unref()
    return outcome
  })
  if (facts === undefined) return
  if (typeof facts !== 'number') return terminal.banner(facts)
  const said = readFileSync(log, 'utf8').trimEnd()
  const nothing = `gyro: the cluster ended before it was ready and left nothing in ${log}: start it without --detach to see why`
  process.stderr.write(`${said || nothing}\n`)
  process.exit(facts)
}

export function alreadyThere(
  running: RunningCluster,
  args: readonly string[],
  { output }: UpOptions,
): void {
  if (!isSameCluster(running.args, args)) {
    throw gyroErrors.make(
      'CLUSTER_RUNNING',
      `a cluster runs in this folder with other flags (${running.server}, process ${running.processId}): gyro down stops it`,
    )
  }
  // `git clean` takes it, and what runs does not write it again.
  if (running.kubeconfig !== '' && !existsSync(running.kubeconfig)) {
    throw gyroErrors.make(
      'CLUSTER_RUNNING',
      `a cluster runs in this folder (${running.server}, process ${running.processId}) and its kubeconfig ${running.kubeconfig} is gone: gyro down stops it, then start it again`,
    )
  }
  process.stdout.write(
    output === 'json'
      ? `${JSON.stringify({ type: 'running', ...withoutToken(running) })}\n`
      : `${running.server} runs already, process ${running.processId}; see gyro status\n`,
  )
}

function spawned(args: readonly string[], log: string, options: UpOptions): ChildProcess {
  const descriptor = opened(log, options)
  try {
    const [command, ...first] = ownCommand()
    return spawn(command, [...first, 'up', ...args], {
      detached: true,
      stdio: ['ignore', descriptor, descriptor, 'ipc'],
      env: { ...process.env, [LOG_VARIABLE]: log },
    })
  } finally {
    closeSync(descriptor)
  }
}

function opened(log: string, { dataDir }: UpOptions): number {
  try {
    makeDirectory(join(log, '..'))
    return openSync(log, 'w', 0o600)
  } catch (error) {
    const remedy =
      dataDir === ''
        ? 'start it in a folder that this user may write, or with --data-dir'
        : 'choose another --data-dir'
    const text = `cannot write the log: ${fileProblem(error)}: ${remedy}`
    throw gyroErrors.make('LOG_NOT_WRITTEN', text, { cause: error })
  }
}

/** A number: it ended with this exit code. Who stops waiting stops the cluster. */
function ready(child: ChildProcess): Promise<BannerFacts | number> {
  return new Promise((done) => {
    const stop = (signal: NodeJS.Signals): void => {
      child.kill('SIGTERM')
      process.exit(128 + constants.signals[signal])
    }
    const answer = (outcome: BannerFacts | number): void => {
      for (const signal of SIGNALS) process.off(signal, stop)
      done(outcome)
    }
    for (const signal of SIGNALS) process.on(signal, stop)
    child.once('message', (facts) => answer(facts as BannerFacts))
    child.once('error', () => answer(1))
    child.once('exit', (code) => answer(code === 0 || code === null ? 1 : code))
  })
}
