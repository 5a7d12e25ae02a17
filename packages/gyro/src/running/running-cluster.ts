/** What `gyro up` leaves on the disk about itself, for `gyro status`, `gyro down` and `gyro kubeconfig`. Pure. */
import { basename } from 'node:path'

export interface RunningCluster {
  /** Name of its context in a kubeconfig that it is merged into: `gyro-FOLDER`. */
  readonly name: string
  readonly processId: number
  /** When the process started, by which it is known from a later one of the same number. */
  readonly processIdentity: string
  /** Where `gyro up` was started. */
  readonly folder: string
  /** As they were given to `gyro up`. */
  readonly args: readonly string[]
  /** RFC 3339. */
  readonly since: string
  readonly version: string
  readonly server: string
  /** Its own file; empty: what runs has joined another's cluster by the usual files. */
  readonly kubeconfig: string
  /** Empty: in memory. Undefined: the cluster is another's. */
  readonly dataDir?: string
  /** What runs, as the banner has it. */
  readonly parts: readonly string[]
  /** Of one that was started with --detach. */
  readonly log?: string
  /** The kubeconfig that it was merged into. */
  readonly merged?: string
  /** Private keys of managers in processes of their own. */
  readonly keyFiles?: readonly string[]
}

/** Undefined: the text is not of this version, or damaged. */
export function parseRunningCluster(text: string): RunningCluster | undefined {
  try {
    const value = JSON.parse(text) as Partial<RunningCluster> | null
    const texts = [value?.name, value?.processIdentity, value?.folder, value?.server]
    const isWhole =
      texts.every((one) => typeof one === 'string') &&
      Number.isInteger(value?.processId) &&
      Array.isArray(value?.args) &&
      Array.isArray(value.parts)
    return isWhole ? (value as RunningCluster) : undefined
  } catch {
    return undefined
  }
}

/** What may stand in a log: the arguments without the token, as `kubectl config view` shows it. */
export function withoutToken<C extends RunningCluster>(cluster: C): C {
  const args = cluster.args.map((arg, at) => {
    if (cluster.args[at - 1] === '--token') return 'REDACTED'
    return arg.startsWith('--token=') ? '--token=REDACTED' : arg
  })
  return { ...cluster, args }
}

/** After the folder, in letters that need no quotes; with the port where another that runs has that name. */
export function clusterName(
  folder: string,
  port: number | string,
  others: readonly { readonly name: string }[],
): string {
  const base = basename(folder).replaceAll(/[^\w.-]+/g, '-')
  const name = base === '' ? 'gyro' : `gyro-${base}`
  return others.some((other) => other.name === name) ? `${name}-${port}` : name
}
