/** `dd`: blocks of a file or of the input into a file or the output. */
import { FileError } from '../files/file-error.ts'
import { absolute } from '../files/file-tree.ts'
import { gathered } from '../files/gathered.ts'
import type { Command, Process } from '../shell/process.ts'
import { readNamed } from './text-commands.ts'

/** Of an input, and of what goes to the output. */
const MOST_BYTES = 8 * 2 ** 20
const BLOCK_BYTES = 512

const OPERANDS = /^(?:if|of|bs|ibs|obs|cbs|count|skip|seek|conv|status|iflag|oflag)$/
/** All bytes reach the file at once, so there is nothing to sync, and errors of a disk do not occur. */
const CONVERSIONS = /^(?:notrunc|fsync|fdatasync|noerror|excl|nocreat)$/
const UNIT_BYTES: Readonly<Record<string, number>> = {
  '': 1,
  c: 1,
  w: 2,
  b: 512,
  kB: 1e3,
  k: 2 ** 10,
  K: 2 ** 10,
  MB: 1e6,
  M: 2 ** 20,
  GB: 1e9,
  G: 2 ** 30,
}

/** Endless devices. The bytes of the second look random and are always the same, as everything in a simulation. */
const DEVICES: ReadonlyMap<string, (at: number) => number> = new Map([
  ['/dev/zero', () => 0],
  ['/dev/random', looksRandom],
  ['/dev/urandom', looksRandom],
])

export const dd: Command = async (task) => {
  const operands = new Map<string, string>()
  for (const arg of task.args) {
    const [, name = '', value = ''] = /^(\w+)=(.*)$/s.exec(arg) ?? []
    if (!OPERANDS.test(name)) return usage(task, arg, `unrecognized operand '${arg}'`)
    operands.set(name, value)
  }
  const conversions = (operands.get('conv') ?? '').split(',').filter((each) => each !== '')
  const unknown = conversions.find((each) => !CONVERSIONS.test(each))
  if (unknown !== undefined) return usage(task, unknown, `invalid conversion '${unknown}'`)
  const number = (name: string, otherwise: number): number => sizeOf(operands.get(name), otherwise)
  const numbers = {
    inBytes: number('bs', number('ibs', BLOCK_BYTES)),
    outBytes: number('bs', number('obs', BLOCK_BYTES)),
    count: number('count', Infinity),
    skip: number('skip', 0),
    seek: number('seek', 0),
  }
  const { inBytes, outBytes } = numbers
  if (Object.values(numbers).some(Number.isNaN) || inBytes === 0 || outBytes === 0)
    return usage(task, task.args.join(' '), 'invalid number')
  const bytes = await taken(task, operands, numbers)
  const to = operands.get('of')
  if (to === undefined) await task.out(bytes)
  else await put(task, to, bytes, numbers.seek * outBytes, conversions.includes('notrunc'))
  if (operands.get('status') !== 'none')
    await task.err(`${blocks(bytes, inBytes)} records in\n${blocks(bytes, outBytes)} records out\n`)
  return 0
}

interface Blocks {
  readonly inBytes: number
  readonly count: number
  readonly skip: number
}

async function taken(
  task: Process,
  operands: ReadonlyMap<string, string>,
  { inBytes, count, skip }: Blocks,
): Promise<Uint8Array> {
  const from = operands.get('if')
  const path = from === undefined ? '' : absolute(from, task.folder.path)
  const first = skip * inBytes
  const device = DEVICES.get(path)
  if (device === undefined) {
    const all =
      from === undefined ? await gathered(task.stdin, MOST_BYTES) : await readNamed(task, from)
    return all.subarray(first, first + count * inBytes)
  }
  const to = operands.get('of')
  const free =
    to === undefined ? MOST_BYTES : task.place.files.freeBytes(absolute(to, task.folder.path))
  if (count * inBytes > free) throw new FileError('No space left on device')
  return Uint8Array.from({ length: count * inBytes }, (_, index) => device(first + index))
}

/** Blocks before them are kept or become zeros; what was behind them stays where it is not cut off. */
async function put(
  { folder, place: { files } }: Process,
  name: string,
  bytes: Uint8Array,
  at: number,
  keepsRest: boolean,
): Promise<void> {
  const path = absolute(name, folder.path)
  if (path === '/dev/null') return
  const before = files.exists(path) ? await files.read(path) : new Uint8Array(0)
  const end = at + bytes.length
  if (end > before.length + files.freeBytes(path)) throw new FileError('No space left on device')
  const written = new Uint8Array(keepsRest ? Math.max(end, before.length) : end)
  written.set(before.subarray(0, keepsRest ? before.length : at))
  written.set(bytes, at)
  files.write(path, written)
}

/** Whole ones, and one that is shorter. */
function blocks({ length }: Uint8Array, blockBytes: number): string {
  return `${Math.floor(length / blockBytes)}+${length % blockBytes === 0 ? 0 : 1}`
}

function sizeOf(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const [, number, unit = ''] = /^(\d+)([A-Za-z]*)$/.exec(text) ?? []
  return Number(number) * (UNIT_BYTES[unit] ?? Number.NaN)
}

function looksRandom(at: number): number {
  return (Math.imul(at + 1, 2654435761) >>> 16) & 255
}

async function usage(task: Process, what: string, problem: string): Promise<number> {
  task.place.onUnknown?.(`dd ${what}`)
  await task.err(`dd: ${problem}\n`)
  return 1
}
