/** The port that a folder or a data directory was served on last: kubeconfigs of its cluster name it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replacePrivateFile } from './private-file.ts'

const NAME = 'port'
const USUAL_PORT = 6443
/** So many after the usual one are tried before any free one is taken. */
const NEIGHBOURS = 20

/** Undefined: never served, or what stands there is no port. */
export function keptPort(directory: string): number | undefined {
  try {
    const text = readFileSync(join(directory, NAME), 'utf8').trim()
    return /^\d{1,5}$/.test(text) ? Number(text) : undefined
  } catch {
    return undefined
  }
}

/** False where it cannot be written: the next start looks for a port again, which is no reason not to start. */
export function rememberPort(directory: string, port: number): boolean {
  try {
    if (keptPort(directory) !== port) replacePrivateFile(join(directory, NAME), `${port}\n`)
    return true
  } catch {
    return false
  }
}

/**
 * In this order. A port that was asked for is the only one, and so is that of a data directory: kubeconfigs of its cluster shall
 * go on to work. Without either the usual one, or its next free neighbour.
 */
export function portsToTry({
  port,
  portIsGiven,
  dataDir,
  kept,
}: {
  readonly port: number
  readonly portIsGiven: boolean
  readonly dataDir: string
  readonly kept: number | undefined
}): readonly number[] {
  if (portIsGiven) return [port]
  if (kept !== undefined && dataDir !== '') return [kept]
  const neighbours = Array.from({ length: NEIGHBOURS }, (_, after) => USUAL_PORT + 1 + after)
  return [...new Set([kept ?? port, port, ...neighbours, 0])]
}
