/** The port that a data directory was served on last: kubeconfigs of its cluster name it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replacePrivateFile } from './directories.ts'

const NAME = 'port'

/** Undefined: never served, or what stands there is no port. */
export function rememberedPort(dataDir: string): number | undefined {
  try {
    const text = readFileSync(join(dataDir, NAME), 'utf8').trim()
    return /^\d{1,5}$/.test(text) ? Number(text) : undefined
  } catch {
    return undefined
  }
}

export function rememberPort(dataDir: string, port: number): void {
  if (rememberedPort(dataDir) !== port) replacePrivateFile(join(dataDir, NAME), `${port}\n`)
}
