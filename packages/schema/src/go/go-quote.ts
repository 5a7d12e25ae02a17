/** Strings as Go prints them in messages. */

/** Go's idea of a printable rune: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(char: string): boolean {
  return char === ' ' || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(char)
}

const GO_ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

const ESCAPED = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/g
const MEANT = new Map(Object.entries(GO_ESCAPES).map(([char, escape]) => [escape[1], char]))

/** The string that `goQuote` has quoted. */
export function goUnquote(quoted: string): string {
  return quoted
    .slice(1, -1)
    .replaceAll(ESCAPED, (_, two?: string, four?: string, eight?: string, sign?: string) => {
      const code = two ?? four ?? eight
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16))
      return MEANT.get(sign) ?? sign!
    })
}

function numericEscape(code: number): string {
  const digits = code.toString(16)
  if (code < 0x80) return `\\x${digits.padStart(2, '0')}`
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
}

/** A string as Go's %q prints it. */
export function goQuote(text: string): string {
  let quoted = '"'
  for (const char of text) {
    if (char === '"' || char === '\\') quoted += `\\${char}`
    else if (isPrintable(char)) quoted += char
    else if (GO_ESCAPES[char] !== undefined) quoted += GO_ESCAPES[char]
    else {
      quoted += numericEscape(char.codePointAt(0)!)
    }
  }
  return `${quoted}"`
}
