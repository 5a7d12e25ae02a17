/** `[...]` of POSIX patterns, as JavaScript has it. */
const CLASSES: ReadonlyMap<string, string> = new Map([
  ['alnum', 'a-zA-Z0-9'],
  ['alpha', 'a-zA-Z'],
  ['blank', ' \\t'],
  ['cntrl', '\\x00-\\x1f\\x7f'],
  ['digit', '0-9'],
  ['graph', '!-~'],
  ['lower', 'a-z'],
  ['print', ' -~'],
  ['punct', '!-\\/:-@\\[-`{-~'],
  ['space', '\\s'],
  ['upper', 'A-Z'],
  ['xdigit', '0-9A-Fa-f'],
])

interface BracketExpression {
  /** Behind the closing bracket. */
  readonly end: number
  readonly source: string
}

/** That which begins at `at`; undefined: it does not end, or has more than is known here. A backslash stands for itself in it. */
export function setAt(pattern: string, at: number): BracketExpression | undefined {
  const isNegated = pattern[at + 1] === '^'
  const first = at + (isNegated ? 2 : 1)
  let source = isNegated ? '[^' : '['
  for (let i = first; i < pattern.length; i++) {
    const letter = pattern[i]!
    if (letter === ']' && i > first) return { end: i + 1, source: `${source}]` }
    if (letter === '[' && /[:.=]/.test(pattern[i + 1] ?? '')) {
      const [text, name = ''] = /^\[:([a-z]+):\]/.exec(pattern.slice(i)) ?? []
      const members = CLASSES.get(name)
      if (text === undefined || members === undefined) return undefined
      source += members
      i += text.length - 1
    } else
      source += /[\]\\^[]/.test(letter) || isLastDash(pattern, i, first) ? `\\${letter}` : letter
  }
  return undefined
}

/** One at an end is a letter like others. */
function isLastDash(pattern: string, at: number, first: number): boolean {
  return pattern[at] === '-' && (at === first || pattern[at + 1] === ']')
}
