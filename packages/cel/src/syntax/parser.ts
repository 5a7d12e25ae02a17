/** From tokens to an expression, by descent through the levels of precedence. Macros are expanded on the way. */
import type { Expression, MapEntry, StructField } from './ast.ts'
import { depthOf, qualifiedName } from './ast.ts'
import { RESERVED } from './lexer.ts'
import type { Token } from './lexer.ts'
import { expandBinding, expandMacro } from './macros.ts'
import { CompileError } from './source.ts'
import { BYTES_WITH_RUNES, numberOf } from './literals.ts'
import { EXPECTED, TokenStream, isFieldName } from './token-stream.ts'

/** Deeper expressions are refused before they can exhaust the stack. */
const MAX_DEPTH = 250
const TOO_DEEP = 'max recursion depth exceeded'
/** Stands for what could not be read. */
const UNREADABLE: Expression = { kind: 'literal', value: null, offset: 0 }

/** Left-associative operators by falling precedence of their level; the loosest is parsed first. */
const LEVELS: readonly (readonly string[])[] = [
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
]

/** `hasBindings`: `cel.bind()` is a macro. Throws CompileError. */
export function parse(text: string, hasBindings = false): Expression {
  return new Parser(text, hasBindings).parse()
}

class Parser {
  readonly #text: string
  readonly #tokens: TokenStream
  readonly #hasBindings: boolean
  #depth = 0
  readonly #nests = new WeakSet<Expression>()

  constructor(text: string, hasBindings: boolean) {
    this.#text = text
    this.#hasBindings = hasBindings
    this.#tokens = new TokenStream(text)
  }

  parse(): Expression {
    const expression = this.#expression()
    this.#tokens.expectEnd()
    const { problems } = this.#tokens
    if (problems.length > 0) throw new CompileError(this.#text, problems)
    if (depthOf(expression, this.#nests) > MAX_DEPTH) this.#fail(TOO_DEEP)
    return expression
  }

  /** What ends the reading at once. */
  #fail(message: string): never {
    throw new CompileError(this.#text, [{ offset: -1, message }])
  }

  /** Of operators, selections and calls of methods so many may stand within each other. */
  #nested(expression: Expression, links: number): Expression {
    this.#nests.add(expression)
    return links > MAX_DEPTH ? this.#fail(TOO_DEEP) : expression
  }

  #expression(): Expression {
    if (++this.#depth > MAX_DEPTH) this.#fail(`expression recursion limit exceeded: ${MAX_DEPTH}`)
    const condition = this.#chain('||', () => this.#chain('&&', () => this.#binary(0)))
    const question = this.#tokens.take('?')
    let expression = condition
    if (question !== undefined) {
      const whenTrue = this.#tokens.within([':'], () =>
        this.#chain('||', () => this.#chain('&&', () => this.#binary(0))),
      )
      const whenFalse = this.#tokens.expect(':') === undefined ? UNREADABLE : this.#expression()
      expression = this.#nested(call('_?_:_', question, [condition, whenTrue, whenFalse]), 1)
    }
    this.#depth--
    return expression
  }

  /** Operands of `&&` or `||`, joined as a balanced tree: long chains stay shallow. */
  #chain(operator: string, operand: () => Expression): Expression {
    const operands = [operand()]
    const operators: Token[] = []
    for (;;) {
      const token = this.#tokens.take(operator)
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
    for (let links = 1; ; links++) {
      const token = this.#tokens.peek()
      if (token.kind === 'identifier' || !operators.includes(token.text)) return left
      if (token.kind !== 'operator' && token.kind !== 'keyword') return left
      this.#tokens.advance()
      const name = token.text === 'in' ? '@in' : `_${token.text}_`
      left = this.#nested(call(name, token, [left, this.#binary(level + 1)]), links)
    }
  }

  #unary(): Expression {
    const tokens = this.#tokens
    if (!tokens.expectOperand(EXPECTED.operand)) return UNREADABLE
    const token = tokens.peek()
    if (!tokens.is('!') && !tokens.is('-')) return this.#member(this.#primary())
    if (token.text === '-' && this.#isNumber(1)) return this.#member(this.#primary())
    let count = 0
    while (tokens.is(token.text) && !(token.text === '-' && this.#isNumber(1) && count > 0)) {
      tokens.advance()
      count++
    }
    if (!this.#hasOperandAfter(token)) return UNREADABLE
    const operand = this.#member(this.#primary())
    // Two of them cancel out.
    return count % 2 === 0 ? operand : call(token.text === '!' ? '!_' : '-_', token, [operand])
  }

  #isNumber(ahead: number): boolean {
    const { kind } = this.#tokens.peek(ahead)
    return kind === 'int' || kind === 'double'
  }

  /** A minus without anything to negate could also have begun a number: both is told. */
  #hasOperandAfter(sign: Token): boolean {
    const tokens = this.#tokens
    if (tokens.beginsOperand()) return true
    if (sign.text === '-') {
      const found = tokens.peek()
      tokens.problem(found, `Syntax error: ${this.#noAlternative(sign, found)}`)
      return tokens.expectOperand(EXPECTED.operand)
    }
    tokens.reportSyntax('extraneous', EXPECTED.operand)
    tokens.recover()
    return tokens.beginsOperand()
  }

  #member(operand: Expression): Expression {
    if (operand === UNREADABLE) return operand
    let expression = operand
    for (let links = 1; ; links++) {
      const dot = this.#tokens.take('.')
      if (dot !== undefined) {
        const selection = this.#selection(expression, dot)
        if (selection === undefined) return expression
        expression = this.#nested(selection, links)
        continue
      }
      const bracket = this.#tokens.take('[')
      if (bracket === undefined) return expression
      const optional = this.#tokens.take('?') !== undefined
      const index = this.#index(optional)
      const within = call(optional ? '_[?_]' : '_[_]', bracket, [expression, index])
      expression = this.#nested(within, links)
    }
  }

  #index(optional: boolean): Expression {
    return this.#tokens.within([']'], () => {
      const begins = optional || this.#tokens.expectOperand(EXPECTED.index)
      const index = begins ? this.#expression() : UNREADABLE
      if (begins || this.#tokens.is(']')) this.#tokens.expect(']')
      return index
    })
  }

  #selection(operand: Expression, dot: Token): Expression | undefined {
    const optional = this.#tokens.take('?') !== undefined
    const name = this.#tokens.peek()
    if (name.kind === 'quoted') {
      this.#tokens.advance()
      this.#tokens.problem(name, "unsupported syntax: '`'")
      return { kind: 'select', operand, field: name.text, presence: false, offset: dot.offset }
    }
    if (name.kind !== 'identifier' && optional) {
      this.#tokens.reportSyntax('mismatched', EXPECTED.fieldName)
      this.#tokens.problem(name, 'unsupported ident kind')
      this.#tokens.recover()
      return undefined
    }
    if (name.kind !== 'identifier') {
      const told =
        name.kind === 'keyword' && name.text !== 'in'
          ? `mismatched input '${name.text}' expecting IDENTIFIER`
          : this.#noAlternative(dot, name)
      this.#tokens.report(name, `Syntax error: ${told}`)
      this.#tokens.recover()
      return undefined
    }
    this.#tokens.advance()
    if (optional) {
      const field: Expression = { kind: 'literal', value: name.text, offset: name.offset }
      return call('_?._', dot, [operand, field])
    }
    const open = this.#tokens.take('(')
    if (open === undefined)
      return { kind: 'select', operand, field: name.text, presence: false, offset: dot.offset }
    return this.#callOf(name.text, operand, open)
  }

  #callOf(name: string, target: Expression | undefined, open: Token): Expression {
    const args = this.#arguments()
    const expansion =
      expandMacro(name, target, args, open.offset) ??
      (this.#hasBindings ? expandBinding(name, target, args, open.offset) : undefined)
    if (expansion !== undefined) {
      if (!('problem' in expansion)) return expansion
      this.#tokens.problem(expansion, expansion.problem)
    }
    return { kind: 'call', function: name, target, args, offset: open.offset }
  }

  #arguments(): Expression[] {
    const list: Expression[] = []
    if (this.#tokens.take(')') !== undefined) return list
    this.#tokens.within([')', ','], () => {
      if (!this.#tokens.expectOperand(EXPECTED.argument, [')'])) return
      if (this.#tokens.is(')')) return
      do list.push(this.#expression())
      while (this.#tokens.take(',') !== undefined)
    })
    this.#tokens.expect(')')
    return list
  }

  #primary(): Expression {
    if (this.#tokens.is('-') && this.#isNumber(1)) {
      const { offset } = this.#tokens.advance()
      return {
        kind: 'literal',
        value: numberOf(this.#tokens, { ...this.#tokens.advance(), offset }, true),
        offset,
      }
    }
    const token = this.#tokens.advance()
    const { offset, text } = token
    switch (token.kind) {
      case 'int':
      case 'uint':
      case 'double':
        return { kind: 'literal', value: numberOf(this.#tokens, token, false), offset }
      case 'string':
        return { kind: 'literal', value: token.content!, offset }
      case 'bytes':
        if (BYTES_WITH_RUNES.test(text)) this.#tokens.problem(token, 'unable to unescape string')
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
        if (text === '.') return this.#rootName(token)
        break
      case 'quoted':
      case 'end':
    }
    return UNREADABLE
  }

  /** What was read in vain, as it is written. */
  #noAlternative(first: Token, last: Token): string {
    const end =
      last.kind === 'end' ? first.offset + first.text.length : last.offset + last.text.length
    return `no viable alternative at input '${this.#text.slice(first.offset, end)}'`
  }

  #rootName(dot: Token): Expression {
    const name = this.#tokens.peek()
    if (name.kind === 'identifier') return this.#name(this.#tokens.advance())
    this.#tokens.report(name, `Syntax error: ${this.#noAlternative(dot, name)}`)
    this.#tokens.recover()
    return UNREADABLE
  }

  #parenthesized(): Expression {
    const expression = this.#tokens.within([')'], () => this.#expression())
    this.#tokens.expect(')')
    return expression
  }

  #name(token: Token): Expression {
    if (RESERVED.has(token.text)) this.#tokens.problem(token, `reserved identifier: ${token.text}`)
    const open = this.#tokens.take('(')
    if (open !== undefined) return this.#callOf(token.text, undefined, open)
    return this.#structAfter({ kind: 'identifier', name: token.text, offset: token.offset })
  }

  /** `a.b.C{...}`: only a dotted name can be followed by fields. */
  #structAfter(start: Expression): Expression {
    const begin = this.#tokens.position
    let name: Expression = start
    while (
      this.#tokens.is('.') &&
      this.#tokens.peek(1).kind === 'identifier' &&
      this.#tokens.peek(2).text !== '('
    ) {
      const dot = this.#tokens.advance()
      name = {
        kind: 'select',
        operand: name,
        field: this.#tokens.advance().text,
        presence: false,
        offset: dot.offset,
      }
    }
    const brace = this.#tokens.take('{')
    if (brace === undefined) {
      this.#tokens.goBack(begin)
      return start
    }
    const fields = this.#structFields()
    return { kind: 'struct', type: qualifiedName(name)!, fields, offset: brace.offset }
  }

  #structFields(): StructField[] {
    const fields: StructField[] = []
    const tokens = this.#tokens
    tokens.within(['}', ','], () => {
      while (!tokens.is('}') && !(fields.length === 0 && tokens.is(','))) {
        const optional = tokens.take('?') !== undefined
        const field = tokens.peek()
        if (!isFieldName(field)) {
          // After a comma the end is expected rather than one more.
          if (fields.length > 0 && !optional) return
          const expected = optional ? EXPECTED.fieldName : EXPECTED.structField
          if (!tokens.skipOne(isFieldName, expected)) return
          continue
        }
        tokens.advance()
        if (field.kind === 'quoted') tokens.problem(field, "unsupported syntax: '`'")
        const colon = tokens.expect(':')
        if (colon === undefined) return
        fields.push({
          name: field.text,
          optional,
          value: this.#expression(),
          offset: colon.offset,
        })
        if (!tokens.expectNext('}') || tokens.take(',') === undefined) return
      }
    })
    tokens.take(',')
    tokens.expect('}')
    return fields
  }

  #listLiteral({ offset }: Token): Expression {
    const elements: Expression[] = []
    const optional = new Set<number>()
    this.#items(']', EXPECTED.listItem, (isOptional) => {
      if (isOptional) optional.add(elements.length)
      elements.push(this.#expression())
      return true
    })
    if (elements.length === 0) this.#tokens.take(',')
    this.#tokens.expect(']')
    return { kind: 'list', elements, optional, offset }
  }

  #mapLiteral({ offset }: Token): Expression {
    const entries: MapEntry[] = []
    const tokens = this.#tokens
    this.#items('}', EXPECTED.mapEntry, (optional) => {
      const key = tokens.within([':'], () => this.#expression())
      if (tokens.expect(':') === undefined) return false
      entries.push({ key, value: this.#expression(), optional })
      return true
    })
    tokens.take(',')
    tokens.expect('}')
    return { kind: 'map', entries, offset }
  }

  /** What stands before `close`, which is left. `readItem` is false when it could not go on. */
  #items(close: string, expected: string, readItem: (optional: boolean) => boolean): void {
    const tokens = this.#tokens
    tokens.within([close, ','], () => {
      for (let isFirst = true; !tokens.is(close); isFirst = false) {
        const begins = isFirst
          ? tokens.expectOperand(expected, [close, ',', '?'])
          : tokens.is('?') || tokens.beginsOperand()
        if (!begins || tokens.is(close) || tokens.is(',')) return
        if (!readItem(tokens.take('?') !== undefined)) return
        if (!tokens.expectNext(close) || tokens.take(',') === undefined) return
      }
    })
  }
}

function call(name: string, { offset }: Token, args: readonly Expression[]): Expression {
  return { kind: 'call', function: name, target: undefined, args, offset }
}
