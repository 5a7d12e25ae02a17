/** From tokens to an expression, by descent through the levels of precedence. Macros are expanded on the way. */
import type { Expression, MapEntry, StructField } from './ast.ts'
import { qualifiedName } from './ast.ts'
import { tokenize } from './lexer.ts'
import type { Token } from './lexer.ts'
import { expandMacro } from './macros.ts'
import { CompileError } from './source.ts'
import { CelUint, MAX_INT, MAX_UINT } from '../values/values.ts'
import type { Value } from '../values/values.ts'

const RESERVED = new Set([
  'as',
  'break',
  'const',
  'continue',
  'else',
  'for',
  'function',
  'if',
  'import',
  'let',
  'loop',
  'package',
  'namespace',
  'return',
  'var',
  'void',
  'while',
])
/** Deeper expressions are refused before they can exhaust the stack. */
const MAX_DEPTH = 250
const OPERAND =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

/** Left-associative operators by falling precedence of their level; the loosest is parsed first. */
const LEVELS: readonly (readonly string[])[] = [
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
]

/** Throws CompileError. */
export function parse(text: string): Expression {
  return new Parser(text).parse()
}

class Parser {
  readonly #text: string
  readonly #tokens: readonly Token[]
  #next = 0
  #depth = 0

  constructor(text: string) {
    this.#text = text
    this.#tokens = tokenize(text)
  }

  parse(): Expression {
    const expression = this.#expression()
    const rest = this.#peek()
    if (rest.kind !== 'end') {
      // One token too many is called extraneous; more cannot be skipped.
      const word = this.#tokens[this.#next + 1]!.kind === 'end' ? 'extraneous' : 'mismatched'
      this.#fail(rest, `Syntax error: ${word} input '${rest.text}' expecting <EOF>`)
    }
    return expression
  }

  #peek(): Token {
    return this.#tokens[this.#next]!
  }

  #advance(): Token {
    return this.#tokens[this.#next++]!
  }

  #is(text: string): boolean {
    const token = this.#peek()
    return token.text === text && (token.kind === 'operator' || token.kind === 'keyword')
  }

  #take(text: string): Token | undefined {
    return this.#is(text) ? this.#advance() : undefined
  }

  #expect(text: string): Token {
    const token = this.#take(text)
    if (token !== undefined) return token
    const found = this.#peek()
    if (found.kind === 'end' && text === ')')
      this.#fail(found, `Syntax error: missing ')' at '<EOF>'`)
    const expected = text === ']' ? "{']', ','}" : `'${text}'`
    this.#fail(found, `Syntax error: mismatched input '${found.text}' expecting ${expected}`)
  }

  #fail(token: { readonly offset: number }, message: string): never {
    throw new CompileError(this.#text, [{ offset: token.offset, message }])
  }

  #expression(): Expression {
    if (++this.#depth > MAX_DEPTH)
      this.#fail(this.#peek(), `expression recursion limit exceeded: ${MAX_DEPTH}`)
    const condition = this.#chain('||', () => this.#chain('&&', () => this.#binary(0)))
    const question = this.#take('?')
    let expression = condition
    if (question !== undefined) {
      const whenTrue = this.#chain('||', () => this.#chain('&&', () => this.#binary(0)))
      this.#expect(':')
      const whenFalse = this.#expression()
      expression = call('_?_:_', question, [condition, whenTrue, whenFalse])
    }
    this.#depth--
    return expression
  }

  /** Operands of `&&` or `||`, joined as a balanced tree: long chains stay shallow. */
  #chain(operator: string, operand: () => Expression): Expression {
    const operands = [operand()]
    const operators: Token[] = []
    for (;;) {
      const token = this.#take(operator)
      if (token === undefined) break
      operators.push(token)
      operands.push(operand())
    }
    const build = (low: number, high: number): Expression => {
      const middle = (low + high + 1) >> 1
      const left = middle === low ? operands[middle]! : build(low, middle - 1)
      const right = middle === high ? operands[middle + 1]! : build(middle + 1, high)
      return call(`_${operator}_`, operators[middle]!, [left, right])
    }
    return operators.length === 0 ? operands[0]! : build(0, operators.length - 1)
  }

  #binary(level: number): Expression {
    const operators = LEVELS[level]
    if (operators === undefined) return this.#unary()
    let left = this.#binary(level + 1)
    for (;;) {
      const token = this.#peek()
      if (token.kind === 'identifier' || !operators.includes(token.text)) return left
      if (token.kind !== 'operator' && token.kind !== 'keyword') return left
      this.#advance()
      const name = token.text === 'in' ? '@in' : `_${token.text}_`
      left = call(name, token, [left, this.#binary(level + 1)])
    }
  }

  #unary(): Expression {
    const token = this.#peek()
    if (!this.#is('!') && !this.#is('-')) return this.#member(this.#primary())
    if (token.text === '-') {
      const number = this.#tokens[this.#next + 1]!
      if (number.kind === 'int' || number.kind === 'double') {
        this.#next += 2
        return this.#member({
          kind: 'literal',
          value: this.#number(number, true),
          offset: token.offset,
        })
      }
    }
    let count = 0
    while (this.#take(token.text) !== undefined) count++
    const operand = this.#member(this.#primary())
    // Two of them cancel out.
    return count % 2 === 0 ? operand : call(token.text === '!' ? '!_' : '-_', token, [operand])
  }

  #member(operand: Expression): Expression {
    let expression = operand
    for (let links = 0; ; links++) {
      if (links > MAX_DEPTH)
        this.#fail(this.#peek(), `expression recursion limit exceeded: ${MAX_DEPTH}`)
      const dot = this.#take('.')
      if (dot !== undefined) {
        expression = this.#selection(expression, dot)
        continue
      }
      const bracket = this.#take('[')
      if (bracket === undefined) return expression
      const optional = this.#take('?') !== undefined
      const index = this.#expression()
      this.#expect(']')
      expression = call(optional ? '_[?_]' : '_[_]', bracket, [expression, index])
    }
  }

  #selection(operand: Expression, dot: Token): Expression {
    const optional = this.#take('?') !== undefined
    const name = this.#peek()
    if (name.kind === 'quoted') this.#fail(name, "unsupported syntax: '`'")
    if (name.kind === 'keyword' && name.text !== 'in')
      this.#fail(name, `Syntax error: mismatched input '${name.text}' expecting IDENTIFIER`)
    if (name.kind === 'end') this.#fail(name, "Syntax error: no viable alternative at input '.'")
    if (name.kind !== 'identifier')
      this.#fail(name, `Syntax error: no viable alternative at input '.${name.text}'`)
    this.#advance()
    if (optional) {
      const field: Expression = { kind: 'literal', value: name.text, offset: name.offset }
      return call('_?._', dot, [operand, field])
    }
    const open = this.#take('(')
    if (open === undefined)
      return { kind: 'select', operand, field: name.text, presence: false, offset: dot.offset }
    return this.#callOf(name.text, operand, open)
  }

  #callOf(name: string, target: Expression | undefined, open: Token): Expression {
    const args = this.#list(')')
    const expansion = expandMacro(name, target, args, open.offset)
    if (expansion !== undefined) {
      if ('problem' in expansion) this.#fail(expansion, expansion.problem)
      return expansion
    }
    return { kind: 'call', function: name, target, args, offset: open.offset }
  }

  #list(close: string): Expression[] {
    const list: Expression[] = []
    if (this.#take(close) !== undefined) return list
    do {
      list.push(this.#expression())
    } while (this.#take(',') !== undefined)
    this.#expect(close)
    return list
  }

  #primary(): Expression {
    const token = this.#advance()
    const { offset, text } = token
    switch (token.kind) {
      case 'int':
      case 'uint':
      case 'double':
        return { kind: 'literal', value: this.#number(token, false), offset }
      case 'string':
        return { kind: 'literal', value: token.content!, offset }
      case 'bytes':
        return {
          kind: 'literal',
          value: Uint8Array.from(Buffer.from(token.content!, 'latin1')),
          offset,
        }
      case 'identifier':
        return this.#name(token)
      case 'keyword':
        if (text !== 'in')
          return { kind: 'literal', value: text === 'null' ? null : text === 'true', offset }
        break
      case 'operator':
        if (text === '(') return this.#parenthesized()
        if (text === '[') return this.#listLiteral(token)
        if (text === '{') return this.#mapLiteral(token)
        if (text === '.' && this.#peek().kind === 'identifier') return this.#name(this.#advance())
        break
      case 'quoted':
      case 'end':
    }
    this.#fail(token, `Syntax error: mismatched input '${text}' expecting ${OPERAND}`)
  }

  #parenthesized(): Expression {
    const expression = this.#expression()
    this.#expect(')')
    return expression
  }

  #name(token: Token): Expression {
    if (RESERVED.has(token.text)) this.#fail(token, `reserved identifier: ${token.text}`)
    const open = this.#take('(')
    if (open !== undefined) return this.#callOf(token.text, undefined, open)
    return this.#structAfter({ kind: 'identifier', name: token.text, offset: token.offset })
  }

  /** `a.b.C{...}`: only a dotted name can be followed by fields. */
  #structAfter(start: Expression): Expression {
    const begin = this.#next
    let name: Expression = start
    while (
      this.#is('.') &&
      this.#tokens[this.#next + 1]!.kind === 'identifier' &&
      this.#tokens[this.#next + 2]!.text !== '('
    ) {
      const dot = this.#advance()
      name = {
        kind: 'select',
        operand: name,
        field: this.#advance().text,
        presence: false,
        offset: dot.offset,
      }
    }
    const brace = this.#take('{')
    if (brace === undefined) {
      this.#next = begin
      return start
    }
    const fields: StructField[] = []
    while (!this.#is('}')) {
      const optional = this.#take('?') !== undefined
      const field = this.#advance()
      if (field.kind !== 'identifier')
        this.#fail(
          field,
          `Syntax error: mismatched input '${field.text}' expecting {'}', ',', '?', IDENTIFIER}`,
        )
      const colon = this.#expect(':')
      fields.push({ name: field.text, optional, value: this.#expression(), offset: colon.offset })
      if (this.#take(',') === undefined) break
    }
    this.#expect('}')
    return { kind: 'struct', type: qualifiedName(name)!, fields, offset: brace.offset }
  }

  #listLiteral({ offset }: Token): Expression {
    const elements: Expression[] = []
    const optional = new Set<number>()
    while (!this.#is(']')) {
      if (this.#take('?') !== undefined) optional.add(elements.length)
      elements.push(this.#expression())
      if (this.#take(',') === undefined) break
    }
    this.#expect(']')
    return { kind: 'list', elements, optional, offset }
  }

  #mapLiteral({ offset }: Token): Expression {
    const entries: MapEntry[] = []
    while (!this.#is('}')) {
      const optional = this.#take('?') !== undefined
      const key = this.#expression()
      this.#expect(':')
      entries.push({ key, value: this.#expression(), optional })
      if (this.#take(',') === undefined) break
    }
    this.#expect('}')
    return { kind: 'map', entries, offset }
  }

  #number(token: Token, negative: boolean): Value {
    const { kind, text } = token
    const sign = negative ? '-' : ''
    if (kind === 'double') {
      const value = Number(sign + text)
      if (!Number.isFinite(value)) this.#fail(token, 'invalid double literal')
      return value
    }
    if (kind === 'uint') {
      const value = BigInt(text.slice(0, -1))
      if (value > MAX_UINT) this.#fail(token, 'invalid uint literal')
      return new CelUint(value)
    }
    const value = negative ? -BigInt(text) : BigInt(text)
    if (BigInt.asIntN(64, value) !== value || value > MAX_INT)
      this.#fail(token, 'invalid int literal')
    return value
  }
}

function call(name: string, { offset }: Token, args: readonly Expression[]): Expression {
  return { kind: 'call', function: name, target: undefined, args, offset }
}
