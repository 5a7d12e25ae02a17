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
  const source = translate(pattern)
  if (source === undefined) return undefined
  // Without the `u` flag escapes of other characters are allowed, as they are in RE2.
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags)
    } catch {
      continue
    }
  }
  return undefined
}

/** Undefined for what RE2 refuses: look-around and back references. */
function translate(pattern: string): string | undefined {
  let source = ''
  /** How many scoped flags are open in each group, innermost last. */
  const scopes = [0]
  for (let i = 0; i < pattern.length; i++) {
    const rest = pattern.slice(i)
    const flags = /^\(\?([imsU-]+)\)/.exec(rest)
    if (flags !== null) {
      if (/U/.test(flags[1]!)) return undefined
      // `(?i)` holds to the end of its group.
      source += `(?${flags[1]}:`
      scopes[scopes.length - 1]!++
      i += flags[0].length - 1
    } else if (rest.startsWith('[')) {
      const set = characterSet(rest)
      if (set === undefined) return undefined
      source += set.text
      i += set.length - 1
    } else if (rest.startsWith('\\')) {
      if (/^\\[1-9]/.test(rest)) return undefined
      source += rest.startsWith('\\A') ? '^' : rest.startsWith('\\z') ? '$' : rest.slice(0, 2)
      i++
    } else if (rest.startsWith('(')) {
      if (/^\(\?<?[=!]/.test(rest)) return undefined
      scopes.push(0)
      const named = rest.startsWith('(?P<')
      source += named ? '(?' : '('
      if (named) i += 2
    } else if (rest.startsWith(')')) {
      source += ')'.repeat((scopes.pop() ?? 0) + 1)
      if (scopes.length === 0) return undefined
    } else source += rest[0]
  }
  return scopes.length === 1 ? source + ')'.repeat(scopes[0]!) : undefined
}

/** A bracket expression, with POSIX classes spelled out. */
function characterSet(
  text: string,
): { readonly text: string; readonly length: number } | undefined {
  let source = text.startsWith('[^') ? '[^' : '['
  let i = source.length
  // A bracket that comes first is a member.
  if (text[i] === ']') {
    source += '\\]'
    i++
  }
  for (; i < text.length; i++) {
    if (text[i] === ']') return { text: `${source}]`, length: i + 1 }
    const posix = /^\[:(\w+):\]/.exec(text.slice(i))
    if (posix !== null && CLASSES[posix[1]!] !== undefined) {
      source += CLASSES[posix[1]!]
      i += posix[0].length - 1
    } else if (text[i] === '\\') {
      source += text.slice(i, i + 2)
      i++
    } else source += text[i] === '[' ? '\\[' : text[i]
  }
  return undefined
}
