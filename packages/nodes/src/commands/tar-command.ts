/** `tar` with -c, -x and -t. Holds no more than one file at a time of an archive that is not compressed: it may be large. */
import type { Command } from '../shell/process.ts'
import { sayUnknown } from './known-arguments.ts'
import { readTarArguments } from './tar-arguments.ts'
import { pack } from './tar-packing.ts'
import { extract, list } from './tar-unpacking.ts'

export const tar: Command = async (task) => {
  const read = readTarArguments(task.args)
  if (read.kind === 'unknown') {
    await sayUnknown(task, 'tar', read.option)
    return 1
  }
  if (read.kind === 'wrong') {
    await task.err(`tar: ${read.problem}\n`)
    return 1
  }
  const { order } = read
  if (order.act === 'create') return pack(task, order)
  return order.act === 'list' ? list(task, order) : extract(task, order)
}
