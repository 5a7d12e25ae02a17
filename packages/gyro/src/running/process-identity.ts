/** Whether a process is still the one that was meant: numbers of processes are given again. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * When the process started, in the words of this system; two processes of one number differ in it. Undefined: there is none,
 * or it has ended and only its parent does not know yet.
 */
export function processIdentity(processId: number): string | undefined {
  return process.platform === 'linux' ? linuxIdentity(processId) : psIdentity(processId)
}

/** Ticks since the start of the machine, and which start that was. */
function linuxIdentity(processId: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${processId}/stat`, 'utf8')
    // The second field is the name in brackets, which may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot} ${fields[19]}`
  } catch {
    return undefined
  }
}

function psIdentity(processId: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(processId)], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  return stdout?.trim() || undefined
}

/** Bytes of memory that the process holds; undefined: unknown. */
export function residentBytes(processId: number): number | undefined {
  const kibibytes = Number(linuxResidentKibibytes(processId) ?? psResidentKibibytes(processId))
  return kibibytes > 0 ? kibibytes * 1024 : undefined
}

function linuxResidentKibibytes(processId: number): string | undefined {
  try {
    return /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

function psResidentKibibytes(processId: number): string | undefined {
  const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', String(processId)], { encoding: 'utf8' })
  return stdout?.trim() || undefined
}
