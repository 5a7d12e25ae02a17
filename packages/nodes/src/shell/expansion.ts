/** What stands in the place of words when a script runs: values, what scripts print, sums, and the files that patterns mean. */
import type { FileTree } from '../files/file-tree.ts'
import { isGlob, literally, pathsOf } from '../files/glob.ts'
import { nameOf } from './process.ts'
import type { ShellOptions } from './options.ts'
import { sumOf } from './sums.ts'
import type { Part, Step, Word } from './script.ts'

export interface Expanding {
  readonly environment: ReadonlyMap<string, string>
  readonly options: ShellOptions
  readonly shell?: string | undefined
  readonly folder: { readonly path: string }
  readonly place: { readonly files: FileTree }
  readonly lastExitCode: number
  readonly parameters: readonly string[]
  /** The number of what was begun last in the background. */
  readonly lastJob: number | undefined
  /** What a script prints. */
  substitute(script: readonly Step[]): Promise<string>
  /** Ends the script around it. */
  fail(message: string): Promise<never>
}

/** A word, and the pattern that it is. */
interface Expanded {
  readonly text: string
  readonly pattern: string
}

/** Of a command: patterns that mean files are these. */
export async function expandedAll(
  words: readonly Word[],
  context: Expanding,
): Promise<readonly string[]> {
  const all: string[] = []
  for (const word of words)
    for (const { text, pattern } of await piecesOf(word, context)) {
      const paths = isGlob(pattern)
        ? pathsOf(pattern, context.place.files, context.folder.path)
        : []
      all.push(...(paths.length === 0 ? [text] : paths))
    }
  return all
}

/** As one text, whatever is in it: of assignments, `case` and redirections. */
export async function expanded(word: Word, context: Expanding): Promise<string> {
  return (await wholeOf(word, context)).text
}

/** For `case`: what is quoted stands for itself. */
export async function patternIn(word: Word, context: Expanding): Promise<string> {
  return (await wholeOf(word, context)).pattern
}

async function wholeOf(word: Word, context: Expanding): Promise<Expanded> {
  let text = ''
  let pattern = ''
  for (const part of word) {
    const piece = 'text' in part ? part.text : await valueOf(part, context)
    text += piece
    pattern += part.quoted === true ? literally(piece) : piece
  }
  return { text, pattern }
}

/** Between double brackets: words stay whole and mean no files, and what something is compared with is a pattern. */
export async function conditionWords(
  words: readonly Word[],
  context: Expanding,
): Promise<readonly string[]> {
  const all: string[] = []
  for (const word of words) {
    const isPattern = /^[!=]?=$/.test(all.at(-1) ?? '')
    all.push(await (isPattern ? patternIn(word, context) : expanded(word, context)))
  }
  return all
}

export function isCondition([first = []]: readonly Word[]): boolean {
  const [part, ...more] = first
  return more.length === 0 && part !== undefined && 'text' in part && part.text === '[['
}

async function piecesOf(word: Word, context: Expanding): Promise<readonly Expanded[]> {
  const words: Expanded[] = []
  let text = ''
  let pattern = ''
  // An unquoted variable without a value is no word at all.
  let isWord = false
  const add = (piece: string, quoted: boolean): void => {
    text += piece
    pattern += quoted ? literally(piece) : piece
    isWord ||= quoted || piece !== ''
  }
  const end = (): void => {
    if (isWord) words.push({ text, pattern })
    text = pattern = ''
    isWord = false
  }
  for (const part of word) {
    if ('text' in part) {
      add(part.text, part.quoted === true)
      continue
    }
    const isEach = 'variable' in part && part.variable === '@' && part.quoted
    if (isEach && context.parameters.length === 0 && isBare(word)) return []
    const value = isEach ? '' : await valueOf(part, context)
    const pieces = isEach ? context.parameters : part.quoted ? [value] : value.split(/\s+/)
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) end()
      add(piece, part.quoted)
    }
  }
  end()
  return words
}

/** `"$@"` and nothing else: without parameters it is no word. */
function isBare(word: Word): boolean {
  return word.every((part) => !('text' in part) || part.text === '')
}

async function valueOf(
  part: Exclude<Part, { readonly text: string }>,
  context: Expanding,
): Promise<string> {
  const { environment, options } = context
  if ('script' in part) return context.substitute(part.script)
  if ('sum' in part) return sumOf(part.sum, environment)
  const { variable, asked } = part
  if (variable === '?') return String(context.lastExitCode)
  if (variable === '$') return '1'
  if (variable === '!') return String(context.lastJob ?? '')
  const found = parameter(variable, context.parameters) ?? environment.get(variable)
  const value = found === '' && asked?.emptyIsNone === true ? undefined : found
  if (asked?.operator === '+') return value === undefined ? '' : asked.text
  if (value !== undefined) return value
  if (asked?.operator === '-') return asked.text
  if (asked === undefined && !options.needsValues) return ''
  const why = asked?.emptyIsNone === true ? 'parameter not set or null' : 'parameter not set'
  return context.fail(`${nameOf(context)}: ${variable}: ${asked?.text || why}\n`)
}

/** Undefined: it has none, or is a variable. */
function parameter(name: string, parameters: readonly string[]): string | undefined {
  if (name === '#') return String(parameters.length)
  if (name === '@' || name === '*') return parameters.join(' ')
  if (name === '0') return 'sh'
  return /^\d+$/.test(name) ? parameters[Number(name) - 1] : undefined
}
