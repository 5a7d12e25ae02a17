/** From tokens to the nodes of the first document. */
import type { Mark } from './cursor.ts'
import { Scanner } from './scanner.ts'
import type { Token, TokenType } from './tokens.ts'
import { YamlError, wrongOrder } from './yaml-error.ts'

export interface Node {
  readonly kind: 'scalar' | 'sequence' | 'mapping' | 'alias'
  readonly mark: Mark
  /** Written out: `tag:yaml.org,2002:int`; empty: none. */
  readonly tag: string
  /** Of scalars and aliases. */
  readonly text: string
  /** A scalar whose meaning its text decides. */
  readonly plain: boolean
  /** Items; of mappings keys and values in turn. */
  readonly children: readonly Node[]
  /** What an alias stands for. */
  readonly target?: Node
}

/** Deeper documents are refused: no kind comes near it, and whatever walks values may do so by calling itself, on half a stack and before it is compiled. */
const DEEPEST_VALUE = 400
const NO_CHILDREN: readonly Node[] = []

export class Parser {
  readonly #scanner: Scanner
  readonly #handles = new Map<string, string>()
  /** Anchors so far; the same name may be given again. */
  readonly #anchors = new Map<string, Node>()
  #depth = 0

  constructor(text: string) {
    this.#scanner = new Scanner(text)
  }

  /** How much of the text was looked at, in UTF-16 units. */
  get readTo(): number {
    return this.#scanner.offset
  }

  /** Undefined: there is no document. Throws YamlError. */
  firstDocument(): Node | undefined {
    if (this.#isNext('stream end')) return undefined
    const isExplicit = this.#isNext('version directive', 'tag directive', 'document start')
    if (isExplicit) this.#directives()
    this.#defaultHandle('!', '!')
    this.#defaultHandle('!!', 'tag:yaml.org,2002:')
    const root =
      isExplicit && this.#isNext(...DOCUMENT_ENDS)
        ? emptyScalar(this.#scanner.peek().mark)
        : this.#node(true, false)
    // What stands behind the document is not read, but must have an end.
    this.#scanner.peek()
    return root
  }

  #isNext(...types: readonly TokenType[]): boolean {
    return types.includes(this.#scanner.peek().type)
  }

  #defaultHandle(handle: string, prefix: string): void {
    if (!this.#handles.has(handle)) this.#handles.set(handle, prefix)
  }

  #directives(): void {
    let hasVersion = false
    for (;;) {
      const { type, mark, handle = '', text } = this.#scanner.peek()
      if (type === 'version directive') {
        if (hasVersion) throw wrongOrder('found duplicate %YAML directive', mark)
        if (text !== '1.1') throw wrongOrder('found incompatible YAML document', mark)
        hasVersion = true
      } else if (type === 'tag directive') {
        if (this.#handles.has(handle)) throw wrongOrder('found duplicate %TAG directive', mark)
        this.#handles.set(handle, text)
      } else break
      this.#scanner.take()
    }
    const { type, mark } = this.#scanner.peek()
    if (type !== 'document start') throw wrongOrder('did not find expected <document start>', mark)
    this.#scanner.take()
  }

  #node(isBlock: boolean, mayBeIndentless: boolean): Node {
    const first = this.#scanner.peek()
    if (first.type === 'alias') return this.#alias(this.#scanner.take())
    const properties = this.#properties()
    const node = this.#content(first.mark, properties, isBlock, mayBeIndentless)
    if (node !== undefined) return node
    const { mark } = this.#scanner.peek()
    if (properties.tag === '' && properties.anchor === undefined)
      throw wrongOrder('did not find expected node content', mark, first.mark)
    return this.#anchored(properties, {
      ...emptyScalar(first.mark),
      tag: properties.tag,
      plain: properties.tag === '',
    })
  }

  #alias({ mark, text }: Token): Node {
    const target = this.#anchors.get(text)
    if (target === undefined)
      throw new YamlError(`yaml: unknown anchor '${text}' referenced`, mark.offset)
    return { kind: 'alias', mark, tag: '', text, plain: false, children: NO_CHILDREN, target }
  }

  #properties(): Properties {
    const start = this.#scanner.peek().mark
    let anchor: string | undefined
    let tag: Token | undefined
    for (let next = this.#scanner.peek(); ; next = this.#scanner.peek()) {
      if (next.type === 'anchor' && anchor === undefined) anchor = this.#scanner.take().text
      else if (next.type === 'tag' && tag === undefined) tag = this.#scanner.take()
      else break
    }
    if (tag === undefined) return { anchor, tag: '' }
    const { handle = '', text, mark } = tag
    if (handle === '') return { anchor, tag: text }
    const prefix = this.#handles.get(handle)
    if (prefix === undefined) throw wrongOrder('found undefined tag handle', mark, start)
    return { anchor, tag: prefix + text }
  }

  #anchored<N extends Node>({ anchor }: Properties, node: N): N {
    if (anchor !== undefined) this.#anchors.set(anchor, node)
    return node
  }

  #content(
    mark: Mark,
    properties: Properties,
    isBlock: boolean,
    mayBeIndentless: boolean,
  ): Node | undefined {
    const { type } = this.#scanner.peek()
    if (mayBeIndentless && type === 'block entry')
      return this.#collection('sequence', mark, properties, (items) => this.#indentless(items))
    switch (type) {
      case 'scalar':
        return this.#scalar(mark, properties)
      case 'flow sequence':
        return this.#collection('sequence', mark, properties, (items) => this.#flowSequence(items))
      case 'flow mapping':
        return this.#collection('mapping', mark, properties, (items) => this.#flowMapping(items))
      case 'block sequence':
        if (!isBlock) return undefined
        return this.#collection('sequence', mark, properties, (items) => this.#blockSequence(items))
      case 'block mapping':
        if (!isBlock) return undefined
        return this.#collection('mapping', mark, properties, (items) => this.#blockMapping(items))
      default:
        return undefined
    }
  }

  #scalar(mark: Mark, properties: Properties): Node {
    const { text, plain = false } = this.#scanner.take()
    const { tag } = properties
    return this.#anchored(properties, {
      kind: 'scalar',
      mark,
      tag,
      text,
      plain: tag === '!' || (tag === '' && plain),
      children: NO_CHILDREN,
    })
  }

  /** The anchor is known within the collection, too. */
  #collection(
    kind: 'sequence' | 'mapping',
    mark: Mark,
    properties: Properties,
    read: (children: Node[]) => void,
  ): Node {
    const children: Node[] = []
    const node: Node = { kind, mark, tag: properties.tag, text: '', plain: false, children }
    this.#anchored(properties, node)
    if (++this.#depth > DEEPEST_VALUE) throw new YamlError('exceeded max depth', mark.offset)
    read(children)
    this.#depth--
    return node
  }

  #blockSequence(items: Node[]): void {
    const start = this.#scanner.take().mark
    while (this.#isNext('block entry')) {
      const { mark } = this.#scanner.take()
      items.push(
        this.#isNext('block entry', 'block end') ? emptyScalar(mark) : this.#node(true, false),
      )
    }
    this.#end('block end', "did not find expected '-' indicator", start)
  }

  /** Its dashes stand where the key of the sequence does. */
  #indentless(items: Node[]): void {
    while (this.#isNext('block entry')) {
      const { mark } = this.#scanner.take()
      const isEmpty = this.#isNext('block entry', 'key', 'value', 'block end')
      items.push(isEmpty ? emptyScalar(mark) : this.#node(true, false))
    }
  }

  #blockMapping(children: Node[]): void {
    const start = this.#scanner.take().mark
    while (this.#isNext('key')) {
      const { mark } = this.#scanner.take()
      children.push(this.#blockPart(mark))
      const colon = this.#isNext('value') ? this.#scanner.take().mark : undefined
      children.push(
        colon === undefined ? emptyScalar(this.#scanner.peek().mark) : this.#blockPart(colon),
      )
    }
    this.#end('block end', 'did not find expected key', start)
  }

  /** A key or a value. */
  #blockPart(mark: Mark): Node {
    return this.#isNext('key', 'value', 'block end') ? emptyScalar(mark) : this.#node(true, true)
  }

  #flowSequence(items: Node[]): void {
    const start = this.#scanner.take().mark
    for (let isFirst = true; !this.#isNext('flow sequence end'); isFirst = false) {
      if (!isFirst) this.#comma("did not find expected ',' or ']'", start)
      if (this.#isNext('key')) items.push(this.#pair())
      else if (!this.#isNext('flow sequence end')) items.push(this.#node(false, false))
    }
    this.#scanner.take()
  }

  /** `[a: b]` is a list of one map. */
  #pair(): Node {
    const { mark } = this.#scanner.take()
    const children = this.#flowPair('flow sequence end')
    return { kind: 'mapping', mark, tag: '', text: '', plain: false, children }
  }

  #flowPair(end: TokenType): readonly Node[] {
    const key = this.#flowPart('value', end)
    if (!this.#isNext('value')) return [key, emptyScalar(this.#scanner.peek().mark)]
    this.#scanner.take()
    return [key, this.#flowPart(end)]
  }

  #flowPart(...ends: readonly TokenType[]): Node {
    return this.#isNext('flow entry', ...ends)
      ? emptyScalar(this.#scanner.peek().mark)
      : this.#node(false, false)
  }

  #flowMapping(children: Node[]): void {
    const start = this.#scanner.take().mark
    for (let isFirst = true; !this.#isNext('flow mapping end'); isFirst = false) {
      if (!isFirst) this.#comma("did not find expected ',' or '}'", start)
      if (this.#isNext('key')) {
        this.#scanner.take()
        children.push(...this.#flowPair('flow mapping end'))
      } else if (!this.#isNext('flow mapping end')) {
        children.push(this.#node(false, false), emptyScalar(this.#scanner.peek().mark))
      }
    }
    this.#scanner.take()
  }

  #comma(problem: string, start: Mark): void {
    this.#end('flow entry', problem, start)
  }

  #end(type: TokenType, problem: string, start: Mark): void {
    const token = this.#scanner.peek()
    if (token.type !== type) throw wrongOrder(problem, token.mark, start)
    this.#scanner.take()
  }
}

interface Properties {
  readonly anchor: string | undefined
  readonly tag: string
}

const DOCUMENT_ENDS: readonly TokenType[] = [
  'version directive',
  'tag directive',
  'document start',
  'document end',
  'stream end',
]

function emptyScalar(mark: Mark): Node {
  return { kind: 'scalar', mark, tag: '', text: '', plain: true, children: NO_CHILDREN }
}
