/** `df`: how large what is mounted is, and how much of it was written. */
import type { Command } from '../shell/process.ts'

const KIB = 1024
const UNITS = ['', 'K', 'M', 'G', 'T'] as const

/** With `-h` in readable units, with `-T` with types; of the file systems that hold the named paths, else of all. */
export const df: Command = async ({ args, place, folder, out, err }) => {
  const letters = args.filter((arg) => /^-[hkTP]+$/.test(arg)).join('')
  const paths = args.filter((arg) => !arg.startsWith('-'))
  if (args.length !== paths.length + args.filter((arg) => /^-[hkTP]+$/.test(arg)).length) {
    place.onUnknown?.(`df ${args.join(' ')}`)
    await err('df: simulated containers know -h, -k, -T and -P\n')
    return 1
  }
  const isReadable = letters.includes('h')
  const size = (bytes: number): string => (isReadable ? readable(bytes) : blocks(bytes))
  const type = (text: string): string => (letters.includes('T') ? ` ${text.padEnd(10)}` : '')
  const title = isReadable ? 'Size'.padStart(9) : '1K-blocks'
  await out(`Filesystem          ${type('Type')} ${title}      Used Available Use% Mounted on\n`)
  const wanted = paths.map((path) =>
    place.files.mountOf(path.startsWith('/') ? path : `${folder.path}/${path}`),
  )
  for (const mount of place.files.mounts) {
    if (paths.length > 0 && !wanted.includes(mount.path)) continue
    const { sizeBytes, usedBytes } = mount
    const [total, used, free] = [sizeBytes, usedBytes, Math.max(0, sizeBytes - usedBytes)].map(
      (bytes) => size(bytes).padStart(9),
    )
    const share = `${Math.ceil((100 * usedBytes) / Math.max(1, sizeBytes))}%`.padStart(4)
    await out(
      `${mount.type.padEnd(20)}${type(mount.type)} ${total} ${used} ${free} ${share} ${mount.path || '/'}\n`,
    )
  }
  return 0
}

function blocks(bytes: number): string {
  return String(Math.ceil(bytes / KIB))
}

/** `9.8M` */
function readable(bytes: number): string {
  let amount = bytes
  let unit = 0
  while (amount >= KIB && unit < UNITS.length - 1) {
    amount /= KIB
    unit++
  }
  return amount === 0 ? '0' : `${amount.toFixed(1)}${UNITS[unit]}`
}
