/**
 * What `grep` looks for, with and without -E: letters, `.`, `[...]` with classes, `\w`, `\s`, `\b` and the like, groups of alternatives, `^`, `$`, and
 * `*`, `+`, `?`, `{2,3}` behind a single one of them. Repeated groups are left out: some of them take longer than anybody waits.
 */
import { setAt } from './bracket-expression.ts'

const SPECIAL = /[.*+?^${}()|[\]\\/]/
/** Of each kind of repetition in one pattern, as times multiply. */
const MOST_REPETITIONS = 4
/** As RE_DUP_MAX of POSIX. */
const MOST_TIMES = 255
/** GNU's signs behind a backslash. */
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['w', String.raw`\w`],
  ['W', String.raw`\W`],
  ['s', String.raw`\s`],
  ['S', String.raw`\S`],
  ['b', String.raw`\b`],
  ['B', String.raw`\B`],
  ['<', String.raw`\b(?=\w)`],
  ['>', String.raw`\b(?<=\w)`],
])
const BETWEEN_LETTERS = /[bB<>]/

/** Undefined: more than is known here. */
export function extendedPattern(pattern: string, ignoresCase: boolean): RegExp | undefined {
  let source = ''
  let repetitions = 0
  /** What a repetition may stand behind. */
  let isAtom = false
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at]!
    const times = timesAt(pattern, at)
    if (times !== undefined) {
      if (!isAtom || ++repetitions > MOST_REPETITIONS) return undefined
      source += times
      at += times.length - 1
      isAtom = false
      continue
    }
    isAtom = !/[()|^$]/.test(letter)
    if (letter === '[') {
      const set = setAt(pattern, at)
      if (set === undefined) return undefined
      source += set.source
      at = set.end - 1
    } else if (letter === '\\') {
      const next = pattern[++at] ?? ''
      const known = ESCAPES.get(next)
      isAtom = !BETWEEN_LETTERS.test(next)
      // Of other letters and digits it depends on the program what they mean.
      if (known === undefined && !/[^\da-z]/i.test(next)) return undefined
      source += known ?? (SPECIAL.test(next) ? `\\${next}` : next)
    } else if (/[.()|^$]/.test(letter)) source += letter
    else if (SPECIAL.test(letter) && letter !== '/') return undefined
    else source += letter === '/' ? '\\/' : letter
  }
  try {
    return new RegExp(source, ignoresCase ? 'i' : '')
  } catch {
    return undefined
  }
}

/** A repetition; undefined: none begins there. */
function timesAt(pattern: string, at: number): string | undefined {
  if (/[*+?]/.test(pattern[at]!)) return pattern[at]
  const [text, from, , to = from] = /^\{(\d+)(,(\d*))?\}/.exec(pattern.slice(at)) ?? []
  if (text === undefined || Number(from) > MOST_TIMES || Number(to) > MOST_TIMES) return undefined
  return text
}

/** A text, and nothing else. */
export function fixedPattern(text: string, ignoresCase: boolean): RegExp {
  const source = text.replaceAll(new RegExp(SPECIAL, 'g'), String.raw`\$&`)
  return new RegExp(source, ignoresCase ? 'i' : '')
}

/** Without -E most signs stand for themselves, and mean something behind a backslash. Undefined: more than is known here. */
export function basicPattern(pattern: string, ignoresCase: boolean): RegExp | undefined {
  let source = ''
  /** At the beginning of a pattern, a group or an alternative. */
  let isStart = true
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at]!
    const wasStart: boolean = isStart
    isStart = false
    if (letter === '\\') {
      const next = pattern[++at] ?? ''
      if (/[+?|()]/.test(next)) {
        source += next
        isStart = /[|(]/.test(next)
      } else source += /[{}]/.test(next) ? next : `\\${next}`
    } else if (letter === '[') {
      const set = setAt(pattern, at)
      if (set === undefined) return undefined
      source += pattern.slice(at, set.end)
      at = set.end - 1
    } else if (letter === '^') {
      source += wasStart ? '^' : '\\^'
      isStart = wasStart
    } else if (letter === '$') {
      source += /^(?:\\[|)]|$)/.test(pattern.slice(at + 1)) ? '$' : '\\$'
    } else if (letter === '*') source += wasStart ? '\\*' : '*'
    else source += /[+?|(){}\]]/.test(letter) ? `\\${letter}` : letter
  }
  return extendedPattern(source, ignoresCase)
}
