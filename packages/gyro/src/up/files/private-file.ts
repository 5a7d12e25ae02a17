/** A file that is replaced as a whole. */
import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory } from '@gyropilot/foundation'

/** Whoever reads meanwhile sees the former text or the new one; nobody but this user may read it. */
export function replacePrivateFile(path: string, text: string): void {
  makeDirectory(dirname(path))
  const unfinished = `${path}.${process.pid}.tmp`
  writeFileSync(unfinished, text, { mode: 0o600 })
  chmodSync(unfinished, 0o600)
  try {
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}
