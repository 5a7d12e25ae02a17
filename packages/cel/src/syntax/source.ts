/** Positions in an expression, and the form in which problems with it are shown. */

/** A problem at an offset (in UTF-16 units) of the expression; below zero it is one of the expression as a whole. */
export interface Problem {
  readonly offset: number
  readonly message: string
}

/** An expression that compiles, but has a constant part that cannot be evaluated. */
export class ProgramError extends Error {
  /** What the constant part has done. */
  readonly reason: string

  constructor(reason: string) {
    super(`program instantiation failed: ${reason}`)
    this.name = 'ProgramError'
    this.reason = reason
  }
}

/** Thrown for an expression that cannot be parsed or has no type. `message` is what the API shows. */
export class CompileError extends Error {
  readonly problems: readonly Problem[]

  constructor(text: string, problems: readonly Problem[]) {
    super(showProblems(text, problems))
    this.name = 'CompileError'
    this.problems = problems
  }
}

const MOST_PROBLEMS = 100

/** Each problem with the line it is on and a mark below, in the order of the text. */
function showProblems(text: string, problems: readonly Problem[]): string {
  // What was found last is left out, wherever it stands.
  const more = problems.length - MOST_PROBLEMS
  const shown = problems
    .slice(0, MOST_PROBLEMS)
    .toSorted((a, b) => a.offset - b.offset)
    .map(({ offset, message }) => showProblem(text, offset, message))
  return [...shown, ...(more > 0 ? [`${more} more errors were truncated`] : [])].join('\n')
}

function showProblem(text: string, offset: number, message: string): string {
  if (offset < 0) return `ERROR: <input>:-1:0: ${message}`
  // There is no line to show, and the end stands before the first column.
  if (text === '') return `ERROR: <input>:1:0: ${message}`
  const before = text.slice(0, offset)
  const start = before.lastIndexOf('\n') + 1
  const end = text.indexOf('\n', offset)
  const line = text.slice(start, end < 0 ? text.length : end).replaceAll('\t', ' ')
  const number = before.split('\n').length
  const leading = Array.from(line.slice(0, offset - start))
  // Characters of more than one byte are wide: their dots and marks are too.
  const dots = leading.map((character) => (isWide(character) ? '．' : '.')).join('')
  const mark = isWide(line.slice(offset - start)) ? '＾' : '^'
  return `ERROR: <input>:${number}:${leading.length + 1}: ${message}\n | ${line}\n | ${dots}${mark}`
}

/** Whether the first character is. */
function isWide(text: string): boolean {
  return (text.codePointAt(0) ?? 0) > 0x7f
}
