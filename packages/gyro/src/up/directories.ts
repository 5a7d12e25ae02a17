/** Files that `gyro up` leaves on the disk. */
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder for this user alone, and those above it. One by one: Node's own recursion never ends on a file system
 * that says of a parent that it is not there although it is, such as /proc.
 */
export function makeDirectory(path: string): void {
  if (existsSync(path)) return
  const parent = dirname(path)
  if (parent !== path) makeDirectory(parent)
  mkdirSync(path, { mode: 0o700 })
}

/** Whoever reads meanwhile sees the former text or the new one; nobody but this user may read it. */
export function replacePrivateFile(path: string, text: string): void {
  makeDirectory(dirname(path))
  const unfinished = `${path}.${process.pid}.tmp`
  writeFileSync(unfinished, text, { mode: 0o600 })
  chmodSync(unfinished, 0o600)
  renameSync(unfinished, path)
}
