/**
 * What `grep` looks for, with and without -E: letters, `.`, `[...]`, groups of alternatives, `^`, `$`, and `*`, `+`, `?` behind a single one of them.
 * Repeated groups are left out: some of them take longer than anybody waits.
 */
const SPECIAL = /[.*+?^${}()|[\]\\/]/
/** Of each kind of repetition in one pattern, as times multiply. */
const MOST_REPETITIONS = 4

/** Undefined: more than is known here. */
export function extendedPattern(pattern: string, ignoresCase: boolean): RegExp | undefined {
  let source = ''
  let repetitions = 0
  /** What a repetition may stand behind. */
  let isAtom = false
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at]!
    if (/[*+?]/.test(letter)) {
      if (!isAtom || ++repetitions > MOST_REPETITIONS) return undefined
      source += letter
      isAtom = false
      continue
    }
    isAtom = !/[()|^$]/.test(letter)
    if (letter === '[') {
      const set = /^\[\^?[\w ,.:=@%/-]+\]/.exec(pattern.slice(at))?.[0]
      if (set === undefined) return undefined
      source += set
      at += set.length - 1
    } else if (letter === '\\') {
      const next = pattern[++at] ?? ''
      if (!SPECIAL.test(next)) return undefined
      source += `\\${next}`
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

/** A text, and nothing else. */
export function fixedPattern(text: string, ignoresCase: boolean): RegExp {
  return new RegExp(
    text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`),
    ignoresCase ? 'i' : '',
  )
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
      } else if (/[{}]/.test(next)) return undefined
      else source += `\\${next}`
    } else if (letter === '[') {
      const set = /^\[\^?\]?[^\]]*\]/.exec(pattern.slice(at))?.[0]
      if (set === undefined) return undefined
      source += set
      at += set.length - 1
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
