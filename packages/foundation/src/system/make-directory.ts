import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder, and those above it that are missing, with this mode. Default: for this user alone. One by one: Node's own recursion
 * never ends on a file system that says of a parent that it is not there although it is, such as /proc.
 */
export function makeDirectory(path: string, mode = 0o700): void {
  if (isDirectory(path)) return
  const parent = dirname(path)
  // What stands in its place and is no folder is told by the call below: ENOTDIR.
  if (!existsSync(parent)) makeDirectory(parent, mode)
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    // Another process may have made it in between.
    if (!isDirectory(path)) throw error
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
