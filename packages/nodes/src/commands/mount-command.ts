/** `mount` without a device: what is mounted where. */
import type { Command } from '../shell/process.ts'

/** `-t TYPE`: only those. */
export const mount: Command = async (task) => {
  const [option, wanted, ...more] = task.args
  if (more.length > 0 || (option !== undefined && option !== '-t')) {
    task.place.onUnknown?.(`mount ${task.args.join(' ')}`)
    await task.err('mount: simulated containers only list what is mounted\n')
    return 1
  }
  for (const { path, type, readOnly } of task.place.files.mounts)
    if (wanted === undefined || wanted === type)
      await task.out(
        `${type} on ${path || '/'} type ${type} (${readOnly ? 'ro' : 'rw'},relatime)\n`,
      )
  return 0
}
