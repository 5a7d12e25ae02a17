/** One `gyro up --detach` at a time in a folder, from the look at what runs until its own cluster is known. */
import { createHash } from 'node:crypto'
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeDirectory, sleep } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import { processIdentity } from '../running/process-identity.ts'

const PAUSE_MS = 50

interface StartLockOptions {
  /** Where the clusters of this user are known. */
  readonly directory: string
  readonly folder: string
  readonly clock: Clock
}

/** Waits for whoever starts one there. Where no lock can be written the start goes on without: nobody would be found anyway. */
export async function withStartLock<T>(
  { directory, folder, clock }: StartLockOptions,
  act: () => Promise<T>,
): Promise<T> {
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 16)
  const lock = join(directory, `${name}.starting`)
  const own = JSON.stringify({ processId: process.pid, identity: processIdentity(process.pid) })
  while (!taken(lock, own)) {
    if (isLeft(lock)) takeAway(lock)
    else await sleep(clock, PAUSE_MS)
  }
  try {
    return await act()
  } finally {
    remove(lock)
  }
}

/** The file is there with all its text, or not at all. True as well where none can be written. */
function taken(lock: string, text: string): boolean {
  const unfinished = `${lock}.${process.pid}`
  try {
    makeDirectory(dirname(lock))
    writeFileSync(unfinished, text, { mode: 0o600 })
  } catch {
    return true
  }
  try {
    linkSync(unfinished, lock)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EEXIST'
  } finally {
    remove(unfinished)
  }
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // Its folder is none, or cannot be written: then it was never there.
  }
}

/** Whose process has ended without a word. */
function isLeft(lock: string): boolean {
  const text = textOf(lock)
  if (text === undefined) return false
  try {
    const { processId, identity } = JSON.parse(text) as { processId: number; identity?: string }
    return processIdentity(processId) !== identity
  } catch {
    return true
  }
}

/** Another may have done so and taken it: then it is put back. */
function takeAway(lock: string): void {
  const aside = `${lock}.${process.pid}.left`
  try {
    renameSync(lock, aside)
    if (!isLeft(aside)) linkSync(aside, lock)
  } catch {
    // Somebody else was faster.
  } finally {
    remove(aside)
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
