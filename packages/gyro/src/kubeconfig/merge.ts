/** Puts a cluster into the kubeconfig that kubectl reads without being told, and takes it out again. */
import { closeSync, existsSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { GyropilotError, fileProblem, makeDirectory, sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import type { RunningCluster } from '../running/running-cluster.ts'
import { replacePrivateFile } from '../up/files/private-file.ts'
import type { Merged, MergedCluster } from './merged-text.ts'

/** Who writes a kubeconfig is done within this. */
const LOCK_WAIT_MS = 5_000
const LOCK_PAUSE_MS = 50

/**
 * The file that is written to: ~/.kube/config; with KUBECONFIG the first of its files that is there, else the last, as kubectl
 * chooses for what is new. `own`, the kubeconfig of the cluster itself, is chosen only where there is no other.
 */
export function mergeTarget(own: string, environment: NodeJS.ProcessEnv = process.env): string {
  const all = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '')
  const others = all.filter((file) => !isSameFile(file, own))
  const files = others.length > 0 ? others : all
  const chosen = files.find((file) => existsSync(file)) ?? files.at(-1)
  return resolve(chosen ?? join(environment['HOME'] || homedir(), '.kube', 'config'))
}

function isSameFile(a: string, b: string): boolean {
  return (
    (existsSync(a) ? realpathSync(a) : resolve(a)) ===
    (existsSync(b) ? realpathSync(b) : resolve(b))
  )
}

/** Makes the cluster the current context of the file. */
export async function mergeInto(
  path: string,
  cluster: Pick<RunningCluster, 'name' | 'server' | 'kubeconfig'>,
  clock: Clock,
): Promise<void> {
  if (isSameFile(path, cluster.kubeconfig)) {
    throw notMerged(
      path,
      'is the kubeconfig of the cluster itself: unset KUBECONFIG to merge into ~/.kube/config',
    )
  }
  const own = readFileSync(cluster.kubeconfig, 'utf8')
  const { withCluster } = await import('./merged-text.ts')
  await edit(path, clock, (text) => withCluster(text, own, cluster))
}

/** A file that is gone has no entries. */
export async function takeOut(path: string, cluster: MergedCluster, clock: Clock): Promise<void> {
  if (!existsSync(path)) return
  const { withoutCluster } = await import('./merged-text.ts')
  await edit(path, clock, (text) => withoutCluster(text, cluster))
}

async function edit(path: string, clock: Clock, change: (text: string) => Merged): Promise<void> {
  try {
    makeDirectory(dirname(path))
    await locked(path, clock, () => {
      const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
      const changed = change(text)
      if ('problem' in changed) throw notMerged(path, changed.problem)
      if (changed.text !== text) replacePrivateFile(path, changed.text)
    })
  } catch (error) {
    if (error instanceof GyropilotError) throw error
    throw notMerged(path, `cannot be written: ${fileProblem(error)}`, error)
  }
}

/** By the file that kubectl and kind lock by. */
async function locked(path: string, clock: Clock, act: () => void): Promise<void> {
  const lock = `${path}.lock`
  const untilMs = clock.monotonicMs() + LOCK_WAIT_MS
  for (;;) {
    try {
      closeSync(openSync(lock, 'wx', 0))
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      if (clock.monotonicMs() >= untilMs)
        throw notMerged(path, `is locked: another program writes it, or died: then remove ${lock}`)
    }
    await sleep(clock, LOCK_PAUSE_MS)
  }
  try {
    act()
  } finally {
    rmSync(lock, { force: true })
  }
}

function notMerged(path: string, why: string, cause?: unknown): Error {
  return gyroErrors.make('KUBECONFIG_NOT_MERGED', `${path} ${why}`, { cause })
}
