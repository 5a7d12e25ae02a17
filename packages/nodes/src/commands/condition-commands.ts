/** What scripts ask before they go on: `test`, `[ ]`, `[[ ]]` and `expr`. */
import { absolute } from '../files/file-tree.ts'
import { matchesGlob } from '../files/glob.ts'
import { sumOf } from '../shell/sums.ts'
import type { Command } from '../shell/process.ts'

const COMPARISONS: ReadonlyMap<string, (a: bigint, b: bigint) => boolean> = new Map([
  ['-eq', (a, b) => a === b],
  ['-ne', (a, b) => a !== b],
  ['-gt', (a, b) => a > b],
  ['-ge', (a, b) => a >= b],
  ['-lt', (a, b) => a < b],
  ['-le', (a, b) => a <= b],
])

function wholeNumber(text: string): bigint | undefined {
  const [, sign, digits] = /^\s*([-+]?)(\d+)\s*$/.exec(text) ?? []
  if (digits === undefined) return undefined
  return sign === '-' ? -BigInt(digits) : BigInt(digits)
}

/** `test`, `[ ]` and `[[ ]]`: one question, with `!` before it. */
export const test: Command = async (task) => {
  const { files } = task.place
  const args = /^\]\]?$/.test(task.args.at(-1) ?? '') ? task.args.slice(0, -1) : task.args
  const inverse = args[0] === '!'
  const [a = '', b, c, ...more] = inverse ? args.slice(1) : args
  const path = (): string => absolute(b ?? '', task.folder.path)
  const exists = (): boolean => files.exists(path())
  const unary: Readonly<Record<string, () => boolean | Promise<boolean>>> = {
    '-d': () => files.isFolder(path()),
    '-f': () => exists() && !files.isFolder(path()),
    '-e': exists,
    '-r': exists,
    '-w': exists,
    '-s': async () => exists() && (await files.read(path())).length > 0,
    '-x': () => exists() && (files.isFolder(path()) || (files.status(path()).mode & 0o111) !== 0),
    // There are no devices, pipes, sockets and links.
    '-b': () => false,
    '-c': () => false,
    '-h': () => false,
    '-L': () => false,
    '-p': () => false,
    '-S': () => false,
    '-n': () => b !== '',
    '-z': () => b === '',
  }
  // Between double brackets the right side is a pattern, and what is empty counts as 0.
  const isExtended = task.called === '[['
  const isSame = isExtended ? matchesGlob(c ?? '', a) : a === c
  const binary: Readonly<Record<string, boolean>> = { '=': isSame, '==': isSame, '!=': !isSame }
  const comparison = c !== undefined && more.length === 0 && COMPARISONS.get(b ?? '')
  if (comparison) {
    const numbers = [a, c].map((text) => wholeNumber(isExtended && text === '' ? '0' : text))
    const wrong = [a, c].find((_, at) => numbers[at] === undefined)
    // A name there is a variable, or a sum.
    if (wrong !== undefined && isExtended) task.place.onUnknown?.(`test ${args.join(' ')}`)
    if (wrong !== undefined) {
      await task.err(`sh: ${wrong}: bad number\n`)
      return 2
    }
    return comparison(numbers[0]!, numbers[1]!) === inverse ? 1 : 0
  }
  const answer = b === undefined ? a !== '' : c === undefined ? await unary[a]?.() : binary[b]
  if (answer === undefined || more.length > 0) {
    task.place.onUnknown?.(`test ${args.join(' ')}`)
    await task.err(`sh: ${args.join(' ')}: unknown operand\n`)
    return 2
  }
  return answer === inverse ? 1 : 0
}

/** Two operands. */
export const expr: Command = async ({ args, out, err, place }) => {
  const [a = '', operator, b = '', ...more] = args
  const isSum = /^(?:[-+*/%]|[<>]=?)$/.test(operator ?? '') && more.length === 0
  const isComparison = /^!?=$/.test(operator ?? '') && more.length === 0
  if (args.length !== 1 && !isSum && !isComparison) {
    place.onUnknown?.(`expr ${args.join(' ')}`)
    await err('expr: syntax error\n')
    return 2
  }
  const number = (text: string): string => (/^-?\d+$/.test(text) ? text : '?')
  const value =
    args.length === 1
      ? a
      : isSum
        ? sumOf(`${number(a)} ${operator} ${number(b)}`, new Map())
        : (a === b) === (operator === '=')
          ? '1'
          : '0'
  await out(`${value}\n`)
  return value === '' || value === '0' ? 1 : 0
}
