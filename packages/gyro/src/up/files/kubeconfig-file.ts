/** Which file a kubeconfig goes to: never over that of a cluster that still runs, unless somebody asked for that file. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { processIdentity } from '../../running/process-identity.ts'
import type { RunningCluster } from '../../running/running-cluster.ts'

const OWNER = /^# gyro up, process (\d+)(?: of (.+))?\n/
/** Of the cluster and the context, and of the user, as kubeconfigText calls them. */
const OWN_NAMES: ReadonlySet<string> = new Set(['gyro', 'admin'])

export interface KubeconfigPlace {
  readonly path: string
  /** One line for the terminal, when it is not the usual place or not ours alone. */
  readonly note: string | undefined
}

interface KubeconfigWish {
  /** Where it goes usually, or as the flag says. */
  readonly path: string
  /** The flag said so. */
  readonly asked: boolean
  readonly port: number
}

/** The text with the process that owns it, by which the next one knows. */
export function ownedText(text: string, processId: number): string {
  const identity = processIdentity(processId)
  const start = identity === undefined ? '' : ` of ${identity}`
  return `# gyro up, process ${processId}${start}\n${text}`
}

export function kubeconfigPlace(
  { path, asked, port }: KubeconfigWish,
  runningOwner: (path: string) => number | undefined,
): KubeconfigPlace {
  const owner = runningOwner(path)
  if (owner === undefined) return { path, note: undefined }
  if (asked)
    return {
      path,
      note: `${path} named the cluster of process ${owner}, which still runs: now it names this one`,
    }
  const own = `${path}-${port}`
  return {
    path: own,
    note: `${path} is of the cluster of process ${owner}, which still runs: this one has a file of its own`,
  }
}

/**
 * The process that wrote the file, when it is another one that still runs: not one that only its parent has not heard of yet. `running`:
 * clusters that may have written it, as kubectl drops the first line when it edits a kubeconfig.
 */
export function runningOwnerOf(
  path: string,
  running: readonly Pick<RunningCluster, 'kubeconfig' | 'processId'>[],
): number | undefined {
  const text = textOf(path)
  const [, number, start] = OWNER.exec(text) ?? []
  if (number === undefined && text !== '') {
    const own = running.find(
      ({ kubeconfig, processId }) => kubeconfig === resolve(path) && processId !== process.pid,
    )
    return own?.processId
  }
  const owner = Number(number ?? 0)
  if (owner === 0 || owner === process.pid) return undefined
  const identity = processIdentity(owner)
  return identity === undefined || (start !== undefined && start !== identity) ? undefined : owner
}

/** Nothing but a cluster of ours is lost when the file is replaced. */
export function isReplaceable(path: string): boolean {
  const text = textOf(path)
  if (text.trim() === '' || OWNER.test(text)) return true
  // Without its first line, where kubectl has edited it.
  const names = [...text.matchAll(/^[\s-]*"?name"?: *"?([^"\s,]*)/gm)].map(([, name = '']) => name)
  return names.length > 0 && names.every((name) => OWN_NAMES.has(name))
}

/** Empty: there is no such file, or no text in it that can be read. A pipe, as /dev/stdout may be, would be waited for. */
function textOf(path: string): string {
  try {
    return statSync(path).isFile() ? readFileSync(path, 'utf8') : ''
  } catch {
    return ''
  }
}
