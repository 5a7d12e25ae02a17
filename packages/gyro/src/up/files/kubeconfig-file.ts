/** Which file a kubeconfig goes to: never over that of a cluster that still runs, unless somebody asked for that file. */
import { readFileSync, statSync } from 'node:fs'
import { processIdentity } from '../../running/process-identity.ts'

const OWNER = /^# gyro up, process (\d+)(?: of (.+))?\n/

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

/** The process that wrote the file, when it is another one that still runs: not one that only its parent has not heard of yet. */
export function runningOwnerOf(path: string): number | undefined {
  let text: string
  try {
    // A pipe, as /dev/stdout may be, would be read until somebody writes to it.
    if (!statSync(path).isFile()) return undefined
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  const [, number = '0', start] = OWNER.exec(text) ?? []
  const owner = Number(number)
  if (owner === 0 || owner === process.pid) return undefined
  const identity = processIdentity(owner)
  return identity === undefined || (start !== undefined && start !== identity) ? undefined : owner
}
