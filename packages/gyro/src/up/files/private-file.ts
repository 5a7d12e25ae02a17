/** Files that are replaced as a whole. */
import { chmodSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory } from '@gyropilot/foundation'

/** Nobody but this user may read it. */
export function replacePrivateFile(path: string, text: string): void {
  replaceFile(path, text, 0o600)
}

/**
 * Whoever reads meanwhile, or after a crash, sees the former text or the new one. A link stays one: what it leads to is replaced. Throws,
 * besides what the file system does, for a device or a pipe: /dev/null shall stay what it is.
 */
export function replaceFile(path: string, text: string, mode: number): void {
  const kept = statSync(path, { throwIfNoEntry: false })
  if (kept !== undefined && !kept.isFile() && !kept.isDirectory())
    throw new Error(`${path}: is no regular file`)
  const file = kept === undefined ? path : realpathSync(path)
  makeDirectory(dirname(file))
  const unfinished = `${file}.${process.pid}.tmp`
  try {
    writeFileSync(unfinished, text, { mode })
    chmodSync(unfinished, mode)
    renameSync(unfinished, file)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}
