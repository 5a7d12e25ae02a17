/** RE2 patterns as JavaScript runs them: the few notations that differ are rewritten. */
const compiled = new Map<string, RegExp | undefined>()

const CLASSES: Readonly<Record<string, string>> = {
  alnum: 'A-Za-z0-9',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
}

/** Undefined when the pattern does not compile. */
export function compilePattern(pattern: string): RegExp | undefined {
  if (!compiled.has(pattern)) compiled.set(pattern, compile(pattern))
  return compiled.get(pattern)
}

function compile(pattern: string): RegExp | undefined {
  let source = pattern
    .replaceAll(/\[:(\^?)(\w+):\]/g, (text, negated: string, name: string) => (negated === '' ? (CLASSES[name] ?? text) : text))
    .replaceAll('(?P<', '(?<')
    .replaceAll('\\A', '^')
    .replaceAll('\\z', '$')
  // RE2 has no look-around and no back references.
  if (/\(\?<?[=!]|\\[1-9]/.test(source)) return undefined
  let flags = ''
  const leading = /^\(\?([ims]+)\)/.exec(source)
  if (leading !== null) {
    flags = leading[1]!
    source = source.slice(leading[0].length)
  }
  try {
    return new RegExp(source, `${flags}u`)
  } catch {
    try {
      return new RegExp(source, flags)
    } catch {
      return undefined
    }
  }
}
