/** Options of sh that scripts rely on: `sh -ec`, `bash -euo pipefail -c`, `set -x`. */
export interface ShellOptions {
  /** -e: the first command that fails ends the script. */
  stopsOnFailure: boolean
  /** -u: the first variable without a value ends the script. */
  needsValues: boolean
  /** -x: commands are shown before they run. */
  traces: boolean
  /** -o pipefail: a pipe fails with any of its commands. */
  failsInPipes: boolean
}

export const noOptions = (): ShellOptions => ({
  stopsOnFailure: false,
  needsValues: false,
  traces: false,
  failsInPipes: false,
})

const NAMES: Readonly<Record<string, keyof ShellOptions>> = {
  e: 'stopsOnFailure',
  errexit: 'stopsOnFailure',
  u: 'needsValues',
  nounset: 'needsValues',
  x: 'traces',
  xtrace: 'traces',
  pipefail: 'failsInPipes',
}
/** Known, and without a meaning here. */
const IDLE = /^(?:[cfhilsvB]|verbose)$/
const IDLE_WORD = /^--(?:login|noprofile|norc|posix)$/

/** Of a shell without a script: commands come from its input. */
export function readsCommands(args: readonly string[]): boolean {
  const known = readOptions(args, noOptions())
  if ('unknown' in known) return false
  return known.letters.includes('s') || (known.rest.length === 0 && !known.letters.includes('c'))
}

/**
 * Reads the options that words begin with into `options`; answers the words after them and the letters that were there, or
 * what is not known here.
 */
export function readOptions(
  words: readonly string[],
  options: ShellOptions,
): { readonly rest: readonly string[]; readonly letters: string } | { readonly unknown: string } {
  let letters = ''
  let at = 0
  for (; /^[-+][A-Za-z]+$|^--[a-z]+$/.test(words[at] ?? ''); at++) {
    const word = words[at]!
    if (IDLE_WORD.test(word)) continue
    if (word.startsWith('--')) return { unknown: word }
    const on = word.startsWith('-')
    for (const letter of word.slice(1)) {
      const name = letter === 'o' ? (words[++at] ?? '') : letter
      const option = NAMES[name]
      if (option !== undefined) options[option] = on
      else if (!IDLE.test(name)) return { unknown: `${word} ${name}` }
      letters += letter
    }
  }
  if (words[at] === '--') at++
  return { rest: words.slice(at), letters }
}
