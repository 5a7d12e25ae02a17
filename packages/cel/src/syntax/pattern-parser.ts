/** Reads patterns in the syntax of RE2 as Go's regexp has it. https://pkg.go.dev/regexp/syntax */

/** Whether one character, given by its code point, is meant. */
export type CharacterTest = (code: number) => boolean

export type PatternNode =
  | { readonly kind: 'character'; readonly test: CharacterTest }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternNode[] }
  | {
      readonly kind: 'repeat'
      readonly part: PatternNode
      readonly min: number
      /** Infinity: without end. */
      readonly max: number
      readonly greedy: boolean
      /** Written with braces: nested ones multiply. */
      readonly counted: boolean
    }

export type Assertion =
  | 'text-begin'
  | 'text-end'
  | 'line-begin'
  | 'line-end'
  | 'word-boundary'
  | 'no-word-boundary'

const MAX_REPEAT = 1000
const MAX_DEPTH = 1000

interface Flags {
  readonly i: boolean
  readonly m: boolean
  readonly s: boolean
  readonly U: boolean
}

/** Thrown for what Go refuses, in its words. */
class PatternError extends Error {
  constructor(problem: string, part: string) {
    super(`error parsing regexp: ${problem}: \`${part}\``)
  }
}

/** Undefined for patterns that Go refuses: broken ones, look-around, back references. */
export function parsePattern(pattern: string): PatternNode | undefined {
  try {
    return new PatternParser(pattern).parse()
  } catch (error) {
    if (error instanceof PatternError) return undefined
    throw error
  }
}

/** What Go says of a pattern that it refuses: "error parsing regexp: missing closing ): `(`". */
export function patternProblem(pattern: string): string {
  try {
    new PatternParser(pattern).parse()
    return new PatternError('expression too large', '').message
  } catch (error) {
    if (error instanceof PatternError) return error.message
    throw error
  }
}

const REPETITION = /(?:[*+?]|\{(?:0|[1-9]\d*)(?:,(?:0|[1-9]\d*)?)?\})\??/y
const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
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
const PERL: Readonly<Record<string, string>> = { d: '0-9', s: '\\t\\n\\f\\r ', w: '0-9A-Za-z_' }
const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 }
/** Properties of characters that are neither categories nor scripts. */
const OWN_PROPERTIES = new Set(['Any', 'ASCII', 'Assigned'])
const ASSERTIONS: Readonly<Record<string, Assertion>> = {
  A: 'text-begin',
  z: 'text-end',
  b: 'word-boundary',
  B: 'no-word-boundary',
}

class PatternParser {
  readonly #pattern: string
  #at = 0
  #flags: Flags = { i: false, m: false, s: false, U: false }
  #depth = 0

  constructor(pattern: string) {
    this.#pattern = pattern
  }

  parse(): PatternNode {
    const node = this.#choice()
    if (this.#at < this.#pattern.length) throw new PatternError('unexpected )', this.#pattern)
    return node
  }

  #rest(): string {
    return this.#pattern.slice(this.#at)
  }

  #take(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at
    const match = expression.exec(this.#pattern)
    if (match === null) return undefined
    this.#at += match[0].length
    return match
  }

  #choice(): PatternNode {
    if (++this.#depth > MAX_DEPTH)
      throw new PatternError('expression nests too deeply', this.#pattern)
    const flags = this.#flags
    const parts = [this.#sequence()]
    while (this.#take('|')) parts.push(this.#sequence())
    this.#flags = flags
    this.#depth--
    return parts.length === 1 ? parts[0]! : { kind: 'choice', parts }
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = []
    while (this.#at < this.#pattern.length) {
      const next = this.#pattern[this.#at]
      if (next === '|' || next === ')') break
      const quoted = this.#match(/\\Q((?:(?!\\E)[^])*)(?:\\E|$)/y)
      if (quoted !== undefined) {
        // What follows a quotation repeats its last character.
        const literals = [...quoted[1]!].map((text) => this.#literal(text.codePointAt(0)!))
        const last = literals.pop()
        parts.push(...literals, ...(last === undefined ? [] : [this.#repeated(last)]))
        continue
      }
      const atom = this.#atom()
      if (atom === undefined) continue
      parts.push(this.#repeated(atom))
    }
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts }
  }

  #repeated(atom: PatternNode): PatternNode {
    const start = this.#at
    const match = this.#match(/(?:([*+?])|\{(0|[1-9]\d*)(,(0|[1-9]\d*)?)?\})(\?)?/y)
    if (match === undefined) return atom
    const [, sign, low, comma, high, lazy] = match
    const min = sign === undefined ? Number(low) : sign === '+' ? 1 : 0
    const open = sign === '*' || sign === '+' || (comma !== undefined && high === undefined)
    const max = open ? Infinity : sign === '?' ? 1 : Number(comma === undefined ? low : high)
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT) || max < min)
      throw new PatternError('invalid repeat count', match[0].replace(/\?$/, ''))
    if (this.#atRepetition()) {
      this.#match(REPETITION)
      const both = this.#pattern.slice(start, this.#at)
      throw new PatternError('invalid nested repetition operator', both)
    }
    const greedy = (lazy === undefined) !== this.#flags.U
    const counted = sign === undefined
    const repeat: PatternNode = { kind: 'repeat', part: atom, min, max, greedy, counted }
    if (counted && !repeatsAtMost(repeat, MAX_REPEAT))
      throw new PatternError('invalid repeat count', match[0])
    return repeat
  }

  #atRepetition(): boolean {
    return /^(?:[*+?]|\{(?:0|[1-9]\d*)(?:,(?:0|[1-9]\d*)?)?\})/.test(this.#rest())
  }

  /** Undefined for what only sets flags. */
  #atom(): PatternNode | undefined {
    const next = this.#pattern[this.#at]!
    const repetition = this.#match(REPETITION)
    if (repetition !== undefined)
      throw new PatternError('missing argument to repetition operator', repetition[0])
    switch (next) {
      case '(':
        return this.#group()
      case '[':
        return this.#set()
      case '\\':
        return this.#escape()
      case '^':
        this.#at++
        return { kind: 'assertion', assertion: this.#flags.m ? 'line-begin' : 'text-begin' }
      case '$':
        this.#at++
        return { kind: 'assertion', assertion: this.#flags.m ? 'line-end' : 'text-end' }
      case '.': {
        this.#at++
        const { s } = this.#flags
        return { kind: 'character', test: (code) => s || code !== 10 }
      }
    }
    const code = this.#pattern.codePointAt(this.#at)!
    this.#at += String.fromCodePoint(code).length
    return this.#literal(code)
  }

  #literal(code: number): PatternNode {
    if (!this.#flags.i) return { kind: 'character', test: (other) => other === code }
    return { kind: 'character', test: classTest(escapeForClass(code), false, true) }
  }

  #group(): PatternNode | undefined {
    const whole = this.#rest()
    this.#at++
    const flags = this.#flags
    const modifiers = this.#match(/\?([imsU]*)(?:-([imsU]+))?([:)])/y)
    if (modifiers !== undefined) {
      const [, on = '', off = '', end] = modifiers
      const set = (flag: keyof Flags): boolean =>
        on.includes(flag) || (flags[flag] && !off.includes(flag))
      this.#flags = { i: set('i'), m: set('m'), s: set('s'), U: set('U') }
      // `(?i)` holds to the end of the group around it.
      if (end === ')') return undefined
    } else if (whole.startsWith('(?') && this.#match(/\?P?<\w+>/y) === undefined) {
      const [named] = /^\(\?P?<(?:[^>]*>|[^])*/.exec(whole) ?? []
      if (named !== undefined)
        throw new PatternError('invalid named capture', /^[^>]*>/.exec(whole)?.[0] ?? whole)
      const [part] = /^\(\?[imsU]*(?:-[imsU]*)?[^]?/u.exec(whole)!
      throw new PatternError('invalid or unsupported Perl syntax', part)
    }
    const node = this.#choice()
    if (!this.#take(')')) throw new PatternError('missing closing )', this.#pattern)
    this.#flags = flags
    return node
  }

  #escape(): PatternNode {
    const assertion = ASSERTIONS[this.#pattern[this.#at + 1] ?? '']
    if (assertion !== undefined) {
      this.#at += 2
      return { kind: 'assertion', assertion }
    }
    const group = this.#classEscape()
    if (group !== undefined)
      return { kind: 'character', test: classTest(group, false, this.#flags.i) }
    return this.#literal(this.#characterEscape())
  }

  /** `\d`, `\pL`, `\P{Greek}` as the inside of a JavaScript class. */
  #classEscape(): string | undefined {
    const perl = this.#match(/\\([dswDSW])/y)?.[1]
    if (perl !== undefined) {
      const inside = PERL[perl.toLowerCase()]!
      return perl === perl.toLowerCase() ? inside : complementOf(inside)
    }
    const unicode = this.#match(/\\([pP])(?:\{(\^?)(\w*)\}|(\{[^]*|[^]?))/uy)
    if (unicode === undefined) return undefined
    const [, sign, caret, long, short] = unicode
    // Without a closing brace, or at the end of the pattern, the name is none.
    const name = long ?? short ?? ''
    const negative = (sign === 'P') !== (caret === '^')
    const properties = OWN_PROPERTIES.has(name) ? [name] : [`gc=${name}`, `Script=${name}`]
    for (const property of properties) {
      const text = `\\${negative ? 'P' : 'p'}{${property}}`
      try {
        return new RegExp(text, 'u').source
      } catch {
        continue
      }
    }
    throw new PatternError('invalid character class range', unicode[0])
  }

  #characterEscape(): number {
    const rest = this.#rest()
    if (rest === '\\') throw new PatternError('trailing backslash at end of expression', '')
    const [part] = /^\\(?:x\{[0-9A-Fa-f]*[^]?|x[0-9A-Fa-f]?[^]?|[^])/u.exec(rest)!
    const code = this.#match(
      /\\(?:x([0-9A-Fa-f]{2})|x\{([0-9A-Fa-f]+)\}|([1-7][0-7]{1,2}|0[0-7]{0,2}))/y,
    )
    if (code !== undefined) {
      const value = Number.parseInt(code[1] ?? code[2] ?? code[3]!, code[3] === undefined ? 16 : 8)
      if (value > 0x10ffff) throw new PatternError('invalid escape sequence', part)
      return value
    }
    const control = this.#match(/\\([aftnrv])/y)?.[1]
    if (control !== undefined) return CONTROLS[control]!
    const literal = this.#match(/\\([^0-9A-Za-z])/uy)?.[1]?.codePointAt(0)
    // Letters without a meaning, back references, and characters beyond ASCII.
    if (literal === undefined || literal >= 0x80)
      throw new PatternError('invalid escape sequence', part)
    return literal
  }

  #set(): PatternNode {
    const whole = this.#rest()
    this.#at++
    const negative = this.#take('^')
    let inside = ''
    // A bracket that comes first is a member.
    for (let first = true; first || !this.#take(']'); first = false) {
      if (this.#at >= this.#pattern.length) throw new PatternError('missing closing ]', whole)
      inside += this.#setMember()
    }
    return { kind: 'character', test: classTest(inside, negative, this.#flags.i) }
  }

  #setMember(): string {
    const posix = this.#match(/\[:(\^?)(\w+):\]/y)
    if (posix !== undefined) {
      const [, caret, name] = posix
      const inside = Object.hasOwn(POSIX, name!) ? POSIX[name!] : undefined
      if (inside === undefined) throw new PatternError('invalid character class range', posix[0])
      return caret === '' ? inside : complementOf(inside)
    }
    const group = this.#classEscape()
    if (group !== undefined) return group
    const start = this.#at
    const low = this.#setCharacter()
    if (!/^-[^\]]/.test(this.#rest())) return escapeForClass(low)
    this.#at++
    const high = this.#setCharacter()
    if (high < low)
      throw new PatternError('invalid character class range', this.#pattern.slice(start, this.#at))
    return `${escapeForClass(low)}-${escapeForClass(high)}`
  }

  #setCharacter(): number {
    if (this.#pattern[this.#at] === '\\') return this.#characterEscape()
    const code = this.#pattern.codePointAt(this.#at)!
    this.#at += String.fromCodePoint(code).length
    return code
  }
}

/** Whether nested counted repetitions multiply to no more than `most`. */
function repeatsAtMost(node: PatternNode, most: number): boolean {
  switch (node.kind) {
    case 'character':
    case 'assertion':
      return true
    case 'sequence':
    case 'choice':
      return node.parts.every((part) => repeatsAtMost(part, most))
    case 'repeat': {
      if (!node.counted) return repeatsAtMost(node.part, most)
      const { min, max, part } = node
      if (max === 0) return true
      const count = max === Infinity ? min : max
      if (count > most) return false
      return repeatsAtMost(part, count > 0 ? Math.floor(most / count) : most)
    }
  }
}

function escapeForClass(code: number): string {
  return `\\u{${code.toString(16)}}`
}

/** All characters that are not in a class without letters beyond ASCII. */
function complementOf(inside: string): string {
  const test = new RegExp(`[${inside}]`, 'u')
  let ranges = ''
  for (let code = 0; code < 0x80; code++) {
    if (!test.test(String.fromCodePoint(code))) ranges += escapeForClass(code)
  }
  return `${ranges}\\u{80}-\\u{10FFFF}`
}

/** Tests single characters with the engine's own classes: case and Unicode tables are the platform's. */
function classTest(inside: string, negative: boolean, ignoreCase: boolean): CharacterTest {
  const expression = new RegExp(`^[${negative ? '^' : ''}${inside}]$`, ignoreCase ? 'iu' : 'u')
  const ascii = Array.from({ length: 0x80 }, (_, code) =>
    expression.test(String.fromCodePoint(code)),
  )
  return (code) => ascii[code] ?? expression.test(String.fromCodePoint(code))
}
