/** `tr` and `rev`: characters of the input in the place of others, and lines backwards. */
import { contentsOf, linesOf, print } from './text-commands.ts'
import type { Command } from '../shell/process.ts'

const CLASSES: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  blank: ' \\t',
  digit: '0-9',
  lower: 'a-z',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
}
const ESCAPES: Readonly<Record<string, string>> = {
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

/** The characters of a set as `a-z`, `[:upper:]`, `\n`, `\0`. */
function charactersOf(set: string): string[] {
  const plain = set.replace(/\[:(\w+):\]/g, (all, name: string) => CLASSES[name] ?? all)
  const found: string[] = []
  let from: string | undefined
  for (const [piece] of plain.matchAll(/\\[0-7]{1,3}|\\.|./gsu)) {
    if (piece === '-' && from === undefined && found.length > 0) {
      from = found.at(-1)
      continue
    }
    const escaped = piece.length > 1 && piece.startsWith('\\') ? piece.slice(1) : undefined
    const character =
      escaped === undefined
        ? piece
        : /^[0-7]/.test(escaped)
          ? String.fromCharCode(parseInt(escaped, 8))
          : (ESCAPES[escaped] ?? escaped)
    const last = character.codePointAt(0)!
    for (let code = (from ?? character).codePointAt(0)! + (from ? 1 : 0); code <= last; code++)
      found.push(String.fromCodePoint(code))
    from = undefined
  }
  return from === undefined ? found : [...found, '-']
}

/** `tr SET1 SET2`, `tr -d SET1`, `tr -s SET1 [SET2]`; `-c` means all but the first set. */
export const tr: Command = async (task) => {
  const options = task.args.filter((arg) => /^-[cCds]+$/.test(arg)).join('')
  const [first, second] = task.args.filter((arg) => !/^-[cCds]+$/.test(arg))
  const deletes = options.includes('d')
  const squeezes = options.includes('s')
  if (first === undefined || (second === undefined && !deletes && !squeezes)) {
    await task.err('usage: tr [-cds] SET1 [SET2]\n')
    return 1
  }
  const from = charactersOf(first)
  const to = second === undefined ? [] : charactersOf(second)
  const meant = new Set(from)
  const isComplement = /c/i.test(options)
  const isMeant = (character: string): boolean => meant.has(character) !== isComplement
  const others = new Map(from.map((character, at) => [character, to[at] ?? to.at(-1)!]))
  const replaced = (character: string): string =>
    deletes || to.length === 0 || !isMeant(character)
      ? character
      : isComplement
        ? to.at(-1)!
        : others.get(character)!
  const made = new Set(to)
  const isSqueezed = to.length > 0 ? (one: string) => made.has(one) : isMeant
  let before = ''
  let text = ''
  const input = Buffer.from((await contentsOf(task, 'tr', '-'))!).toString()
  for (const character of input) {
    if (deletes && isMeant(character)) continue
    const one = replaced(character)
    if (!(squeezes && one === before && isSqueezed(one))) text += one
    before = one
  }
  await task.out(text)
  return 0
}

export const rev: Command = async (task) => {
  let exitCode = 0
  for (const name of task.args.length === 0 ? ['-'] : task.args) {
    const bytes = await contentsOf(task, 'rev', name)
    if (bytes === undefined) exitCode = 1
    else
      await print(
        task,
        linesOf(bytes).map((line) => [...line].toReversed().join('')),
      )
  }
  return exitCode
}
