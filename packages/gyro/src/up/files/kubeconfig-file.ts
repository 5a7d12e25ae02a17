/** Which file a kubeconfig goes to: never over that of a cluster that still runs, unless somebody asked for that file. */
import { readFileSync } from 'node:fs'

const OWNER = /^# gyro up, process (\d+)\n/

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
  return `# gyro up, process ${processId}\n${text}`
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

/** The process that wrote the file, when it is another one that still runs. */
export function runningOwnerOf(path: string): number | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  const owner = Number(OWNER.exec(text)?.[1] ?? 0)
  if (owner === 0 || owner === process.pid) return undefined
  try {
    process.kill(owner, 0)
    return owner
  } catch {
    return undefined
  }
}
