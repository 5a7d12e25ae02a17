import { readFileSync } from 'node:fs'

/** Of the kernel's clock. */
const TICKS_PER_SECOND = 100

/** What a process has used, by the kernel. */
interface ProcessAccount {
  readonly cpuSeconds: number
  readonly residentMebibytes: number
  readonly peakMebibytes: number
}

export function accountOf(pid: number): ProcessAccount {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (name: string): number =>
    Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)![1]) / 1024
  return {
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    residentMebibytes: mebibytes('VmRSS'),
    peakMebibytes: mebibytes('VmHWM'),
  }
}

export function residentMebibytes(pid: number): number {
  return accountOf(pid).residentMebibytes
}
