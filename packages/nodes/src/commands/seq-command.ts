/** `seq LAST`, `seq FIRST LAST`, `seq FIRST STEP LAST`; `-w` makes all as wide, `-s` stands between them. */
import { BufferedLines } from '../files/gathered.ts'
import type { Command, Process } from '../shell/process.ts'
import { sayUnknown } from './known-arguments.ts'

/** That it counts. */
const MOST_NUMBERS = 100_000
const NUMBER = /^[-+]?(?:\d+(?:\.\d+)?|\.\d+)$/

export const seq: Command = async (task) => {
  const { args, out, err } = task
  let separator = '\n'
  let isFilled = false
  let at = 0
  // A number below 0 is no option.
  for (; args[at]?.startsWith('-') === true && !NUMBER.test(args[at]!); at++) {
    const arg = args[at]!
    if (arg === '-w') isFilled = true
    else if (arg === '-s') separator = args[++at] ?? ''
    else if (arg.startsWith('-s')) separator = arg.slice(2)
    else return unknown(task, arg)
  }
  const texts = args.slice(at)
  const wrong = texts.find((text) => !NUMBER.test(text))
  if (wrong !== undefined || texts.length === 0 || texts.length > 3) {
    await err(`seq: invalid number '${wrong ?? args.join(' ')}'\n`)
    return 1
  }
  const numbers = texts.map(Number)
  const last = numbers.at(-1)!
  const first = numbers.length > 1 ? numbers[0]! : 1
  const step = numbers.length > 2 ? numbers[1]! : 1
  if (step === 0) {
    await err(`seq: invalid Zero increment value: '${texts[1]}'\n`)
    return 1
  }
  const decimals = Math.max(...texts.slice(0, -1).map(decimalsOf), 0)
  // A sum of many decimal fractions falls short of its end by less than this.
  const count = Math.floor((last - first) / step + 1e-9) + 1
  if (count > MOST_NUMBERS) return unknown(task, texts.join(' '))
  const written = (index: number): string => (first + index * step).toFixed(decimals)
  const width = isFilled ? Math.max(written(0).length, written(Math.max(0, count - 1)).length) : 0
  const text = new BufferedLines(async (lines) => out(lines))
  for (let index = 0; index < count; index++)
    await text.add(`${filled(written(index), width)}${index + 1 < count ? separator : '\n'}`)
  await text.end()
  return 0
}

async function unknown(task: Process, what: string): Promise<number> {
  await sayUnknown(task, 'seq', what)
  return 1
}

function decimalsOf(text: string): number {
  return text.split('.')[1]?.length ?? 0
}

function filled(number: string, width: number): string {
  return number.startsWith('-')
    ? `-${number.slice(1).padStart(width - 1, '0')}`
    : number.padStart(width, '0')
}
