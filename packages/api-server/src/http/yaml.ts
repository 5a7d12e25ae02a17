/** YAML in and out. Loaded when a request first needs it. */
import { LineCounter, parseDocument, stringify } from 'yaml'
import type { YAMLError as Broken } from 'yaml'
import { YamlError, valueOfYaml } from './yaml-values.ts'

export interface ParsedYaml {
  readonly value: unknown
  /** Repeated keys: `line 1: key "x" already set in map`. */
  readonly problems: readonly string[]
  /** In the words of the real parser where they are known: `yaml: line 1: did not find expected node content`. */
  readonly error: string | undefined
}

export function parseYamlText(text: string): ParsedYaml {
  const lines = new LineCounter()
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    version: '1.1',
    schema: 'failsafe',
    prettyErrors: false,
    logLevel: 'silent',
  })
  // Of several documents the first is read.
  const broken = document.errors.filter(({ code }) => code !== 'MULTIPLE_DOCS')
  if (broken.length > 0)
    return { value: undefined, problems: [], error: problemOf(broken, text, lines) }
  const problems: string[] = []
  reportRepeated(document.contents, lines, problems)
  try {
    return { value: valueOfYaml(document.contents), problems, error: undefined }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    return { value: undefined, problems: [], error: error.message }
  }
}

/** By the code of the grammar's library. */
const WORDS: Partial<Readonly<Record<string, string>>> = {
  BAD_DQ_ESCAPE: 'found unknown escape character',
  BAD_SCALAR_START: 'found character that cannot start any token',
  BAD_ALIAS: 'did not find expected alphabetic or numeric character',
  BLOCK_AS_IMPLICIT_KEY: 'mapping values are not allowed in this context',
}

/** Wrong characters are told of by lines that count from one, their wrong order by lines from zero. The first of each is not named. */
function problemOf(errors: readonly Broken[], text: string, lines: LineCounter): string {
  const { code, message, pos } = errors[0]!
  const before = text.slice(0, pos[0]).trimEnd()
  const told = (line: number, problem: string): string =>
    `yaml: ${line === 0 ? '' : `line ${line}: `}${problem}`
  const character = (problem: string, offset = pos[0]): string => {
    const { line } = lines.linePos(offset)
    return told(line === 1 ? 0 : line, problem)
  }
  const multiline = errors.find((error) => error.code === 'MULTILINE_IMPLICIT_KEY')
  if (multiline !== undefined) return character(WORDS.BLOCK_AS_IMPLICIT_KEY!, multiline.pos[1] - 1)
  if (code === 'TAB_AS_INDENT')
    return character(
      /[:,[{-]$/.test(before)
        ? 'found character that cannot start any token'
        : 'found a tab character that violates indentation',
    )
  const words = WORDS[code]
  if (words !== undefined) return character(words)
  if (code === 'MISSING_CHAR' && message.includes('quote'))
    return character('found unexpected end of stream')
  const isAtEnd = before.length === text.trimEnd().length
  const { line } = lines.linePos(pos[0])
  const order = isAtEnd && !text.endsWith('\n') ? line : line - 1
  const [, closing] = /^Flow .* end with a ([\]}])/.exec(message) ?? []
  if (closing !== undefined && !/[[{,]$/.test(before))
    return told(order, `did not find expected ',' or '${closing}'`)
  if (message.startsWith('Sequence item without'))
    return told(order, "did not find expected '-' indicator")
  if (code === 'BAD_INDENT' && closing === undefined)
    return told(order, 'did not find expected key')
  return told(order, 'did not find expected node content')
}

function reportRepeated(node: unknown, lines: LineCounter, problems: string[]): void {
  if (typeof node !== 'object' || node === null || !('items' in node)) return
  const seen = new Set<string>()
  for (const item of node.items as {
    key?: { value?: unknown; range?: readonly number[] }
    value?: unknown
  }[]) {
    if (item.key?.value !== undefined) {
      const key = String(item.key.value)
      if (seen.has(key))
        problems.push(
          `line ${lines.linePos(item.key.range?.[0] ?? 0).line}: key ${JSON.stringify(key)} already set in map`,
        )
      seen.add(key)
      reportRepeated(item.value, lines, problems)
    } else reportRepeated(item, lines, problems)
  }
}

/** Keys in order, as the real server writes them. */
export function formatYaml(value: unknown): string {
  return stringify(value, {
    sortMapEntries: true,
    lineWidth: 0,
    aliasDuplicateObjects: false,
    defaultStringType: 'PLAIN',
    version: '1.1',
  })
}
