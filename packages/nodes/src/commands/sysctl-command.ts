/** `sysctl NAME...`: settings of the kernel, as they stand below /proc/sys. */
import type { Command } from '../shell/process.ts'

const ROOT = '/proc/sys'

/** With dots or slashes between the parts of its name. */
export function settingPath(name: string): string {
  return `${ROOT}/${name.replaceAll('.', '/')}`
}

/** With `-n` the values alone; nothing can be set. */
export const sysctl: Command = async ({ args, place, out, err }) => {
  const names = args.filter((arg) => arg !== '-n')
  if (names.length === 0 || names.some((name) => name.startsWith('-') || name.includes('='))) {
    place.onUnknown?.(`sysctl ${args.join(' ')}`)
    await err('sysctl: simulated containers know names, and -n\n')
    return 1
  }
  let exitCode = 0
  for (const name of names) {
    const path = settingPath(name)
    if (!place.files.exists(path)) {
      place.onUnknown?.(`sysctl ${name}`)
      await err(`sysctl: error: '${name}' is an unknown key\n`)
      exitCode = 1
      continue
    }
    const value = Buffer.from(await place.files.read(path))
      .toString()
      .trimEnd()
    const shown = name.replaceAll('/', '.')
    await out(args.includes('-n') ? `${value}\n` : `${shown} = ${value}\n`)
  }
  return exitCode
}
