/** The clusters of this user on this machine: one file each, written by `gyro up`, gone with it. */
import { readFileSync, readdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { replacePrivateFile } from '../up/files/private-file.ts'
import { processIdentity } from './process-identity.ts'
import { parseRunningCluster } from './running-cluster.ts'
import type { RunningCluster } from './running-cluster.ts'

export class ClusterRegistry {
  readonly directory: string

  constructor(directory: string) {
    this.directory = directory
  }

  /** `$XDG_STATE_HOME/gyropilot/clusters`, else below `~/.local/state`. */
  static ofUser(): ClusterRegistry {
    const home = process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state')
    return new ClusterRegistry(resolve(home, 'gyropilot', 'clusters'))
  }

  /** Those that run, by folder and then by process. */
  running(): readonly RunningCluster[] {
    return this.#known().filter(isRunning)
  }

  /** Those that run and were started in this folder. */
  in(folder: string): readonly RunningCluster[] {
    return this.running().filter((cluster) => cluster.folder === folder)
  }

  /** Those whose process ended without a word: killed, or the machine went down. */
  left(): readonly RunningCluster[] {
    return this.#known().filter((cluster) => !isRunning(cluster))
  }

  /** Of the process, as it is on the disk now. */
  of(processId: number): RunningCluster | undefined {
    return this.#known().find((cluster) => cluster.processId === processId)
  }

  write(cluster: RunningCluster): void {
    replacePrivateFile(this.#pathOf(cluster.processId), `${JSON.stringify(cluster, null, 2)}\n`)
  }

  remove(processId: number): void {
    rmSync(this.#pathOf(processId), { force: true })
  }

  #pathOf(processId: number): string {
    return join(this.directory, `${processId}.json`)
  }

  #known(): readonly RunningCluster[] {
    return this.#files()
      .flatMap((name) => {
        try {
          return parseRunningCluster(readFileSync(join(this.directory, name), 'utf8')) ?? []
        } catch {
          // Gone meanwhile.
          return []
        }
      })
      .sort((a, b) =>
        a.folder === b.folder ? a.processId - b.processId : a.folder < b.folder ? -1 : 1,
      )
  }

  #files(): readonly string[] {
    try {
      return readdirSync(this.directory).filter((name) => /^\d+\.json$/.test(name))
    } catch {
      return []
    }
  }
}

export function isRunning({ processId, processIdentity: identity }: RunningCluster): boolean {
  return processIdentity(processId) === identity
}
