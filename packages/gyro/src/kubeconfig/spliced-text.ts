/** Changes of a YAML text at their places: all around them stays as it was written, byte for byte. Pure. */
import { Document, isMap, isNode, isScalar, isSeq } from 'yaml'
import type { CST, Pair, ParsedNode, YAMLMap, YAMLSeq } from 'yaml'

/** `document` is parsed from `text` with its source tokens; its root is a map. */
export class Splices {
  readonly #text: string
  readonly #document: Document
  readonly #changes: { readonly start: number; readonly end: number; readonly text: string }[] = []
  /** Behind everything that stands there, whatever has grown at its end. */
  readonly #appended: string[] = []

  constructor(text: string, document: Document) {
    this.#text = text
    this.#document = document
  }

  /** In the place of the item there, or behind the last one. */
  put(list: string, at: number | undefined, entry: object): void {
    const value = this.#document.get(list)
    if (isSeq(value) && value.items.length > 0) return this.#putItem(value, at, entry)
    const pair = this.#pair(list)
    if (this.#isFlow()) {
      const json = `[${JSON.stringify(entry)}]`
      if (pair === undefined) this.#putFirst(`${JSON.stringify(list)}: ${json}`)
      else this.#replaceValue(pair, ` ${json}`)
    } else if (pair === undefined) this.#append(`${list}:${this.#newline()}${this.#item(entry, 0)}`)
    else {
      this.#replaceValue(pair, '')
      this.#insertLines(
        this.#nextLine(endOf(pair.value) ?? colonOf(pair) + 1),
        this.#item(entry, 0),
      )
    }
  }

  remove(list: string, indexes: readonly number[]): void {
    const value = this.#document.get(list) as YAMLSeq
    const isEmpty = indexes.length === value.items.length
    if (value.flow === true) return this.#removeOfFlow(value, indexes)
    for (const at of indexes) {
      const { start, end } = this.#linesOf(value, at)
      this.#change(start, end, '')
    }
    if (isEmpty) this.#insert(colonOf(this.#pair(list)!) + 1, ' []')
  }

  set(key: string, value: string): void {
    const pair = this.#pair(key)
    const isPlain = value !== '' && !this.#isFlow()
    const shown = isPlain ? value : JSON.stringify(value)
    if (pair !== undefined) this.#replaceValue(pair, ` ${shown}`)
    else if (this.#isFlow()) this.#putFirst(`${JSON.stringify(key)}: ${shown}`)
    else this.#append(`${key}: ${shown}`)
  }

  text(): string {
    let text = ''
    let from = 0
    for (const change of this.#changes.toSorted((a, b) => a.start - b.start)) {
      text += this.#text.slice(from, change.start) + change.text
      from = change.end
    }
    text += this.#text.slice(from)
    const isBroken = this.#appended.length > 0 && text !== '' && !text.endsWith('\n')
    return [text, isBroken ? this.#newline() : '', ...this.#appended].join('')
  }

  #putItem(list: YAMLSeq, at: number | undefined, entry: object): void {
    if (list.flow === true) {
      const item = list.items[at ?? list.items.length - 1]
      const end = endOf(item)!
      const json = JSON.stringify(entry)
      if (at === undefined) this.#insert(end, `, ${json}`)
      else this.#change(startOf(item)!, end, json)
      return
    }
    const { start, end, dash } = this.#linesOf(list, at ?? list.items.length - 1)
    const item = this.#item(entry, dash - start)
    if (at === undefined) this.#insertLines(end, item)
    else this.#change(start, end, `${item}${this.#newline()}`)
  }

  #removeOfFlow({ items }: YAMLSeq, indexes: readonly number[]): void {
    const gone = new Set(indexes)
    for (const at of indexes) {
      const isBeforeKept = !items.slice(0, at).some((_, index) => !gone.has(index))
      const next = items[at + 1]
      if (!isBeforeKept) this.#change(endOf(items[at - 1])!, endOf(items[at])!, '')
      else this.#change(startOf(items[at])!, next ? startOf(next)! : endOf(items[at])!, '')
    }
  }

  #replaceValue(pair: Pair, text: string): void {
    const start = colonOf(pair) + 1
    const end = endOf(pair.value) ?? start
    // Without a value, what follows on the line is a comment, which needs its space.
    const isBare = end === startOf(pair.value)
    this.#change(start, isBare ? start : Math.max(start, end), text)
  }

  /** Of an item of a list that is not in brackets: from its dash to the end of its last line. */
  #linesOf(list: YAMLSeq, at: number): { start: number; end: number; dash: number } {
    const { items } = list.srcToken as CST.BlockSequence
    const dash = items[at]!.start.find(({ type }) => type === 'seq-item-ind')!.offset
    const valueEnd = endOf(list.items[at])!
    const end = this.#text[valueEnd - 1] === '\n' ? valueEnd : this.#nextLine(valueEnd)
    return { start: this.#text.lastIndexOf('\n', dash - 1) + 1, end, dash }
  }

  #nextLine(offset: number): number {
    const at = this.#text.indexOf('\n', offset)
    return at < 0 ? this.#text.length : at + 1
  }

  #item(entry: object, indent: number): string {
    const lines = new Document(entry).toString({ lineWidth: 0, indentSeq: false }).trimEnd()
    return lines
      .split('\n')
      .map((line, index) => `${' '.repeat(indent)}${index === 0 ? '- ' : '  '}${line}`)
      .join(this.#newline())
  }

  #append(text: string): void {
    this.#appended.push(`${text}${this.#newline()}`)
  }

  /** The text may end in the midst of a line. */
  #insertLines(at: number, lines: string): void {
    const isBroken = at > 0 && this.#text[at - 1] !== '\n'
    this.#insert(at, `${isBroken ? this.#newline() : ''}${lines}${this.#newline()}`)
  }

  #putFirst(member: string): void {
    const { items } = this.#document.contents as YAMLMap
    const at = startOf(this.#document.contents)! + 1
    if (items.length > 0) this.#insert(at, `${member}, `)
    else this.#insert(at, this.#changes.length === 0 ? member : `, ${member}`)
  }

  #insert(at: number, text: string): void {
    this.#change(at, at, text)
  }

  #change(start: number, end: number, text: string): void {
    this.#changes.push({ start, end, text })
  }

  #pair(key: string): Pair | undefined {
    const { items } = this.#document.contents as YAMLMap
    return items.find((pair) => isScalar(pair.key) && pair.key.value === key)
  }

  #isFlow(): boolean {
    return isMap(this.#document.contents) && this.#document.contents.flow === true
  }

  #newline(): string {
    return this.#text.includes('\r\n') ? '\r\n' : '\n'
  }
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? (node as ParsedNode).range?.[0] : undefined
}

function endOf(node: unknown): number | undefined {
  return isNode(node) ? (node as ParsedNode).range?.[1] : undefined
}

function colonOf({ key, srcToken }: Pair): number {
  const colon = srcToken?.sep?.find(({ type }) => type === 'map-value-ind')
  return colon?.offset ?? endOf(key)!
}
