/** Where here documents of sh stand: `<<END` and `<<-END`, and from the next line on their text up to that word. Pure. */

/** What is asked for in a line: its text begins behind that. */
export interface HereDocument {
  readonly delimiter: string
  /** Its text is taken as it is. */
  readonly isQuoted: boolean
  /** `<<-`: tabs before its lines are not of it. */
  readonly stripsTabs: boolean
  /** Behind the word. */
  readonly end: number
}

const OPENING = /<<(-?)[ \t]*((?:\\.|'[^']*'|"(?:[^"\\]|\\.)*"|[^\s;&|<>()'"\\])+)/sy

/** What begins there; undefined: no word follows. */
export function hereDocumentAt(script: string, at: number): HereDocument | undefined {
  OPENING.lastIndex = at
  const [whole, dash, word = ''] = OPENING.exec(script) ?? []
  if (whole === undefined) return undefined
  const delimiter = word.replaceAll(
    /\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"/gs,
    (_, escaped?: string, single?: string, double?: string) => escaped ?? single ?? double ?? '',
  )
  return {
    delimiter,
    isQuoted: /['"\\]/.test(word),
    stripsTabs: dash !== '',
    end: at + whole.length,
  }
}

/** Whether its text ends with that line, which may have its break. */
export function endsWith({ delimiter, stripsTabs }: HereDocument, line: string): boolean {
  const plain = line.replace(/\n$/, '')
  return (stripsTabs ? plain.replace(/^\t+/, '') : plain) === delimiter
}

/** The text that begins there, and where the line of its word ends; undefined: that does not come. */
export function textAt(
  document: HereDocument,
  script: string,
  from: number,
): { readonly text: string; readonly end: number } | undefined {
  for (let at = from; at < script.length;) {
    const end = lineEnd(script, at)
    if (endsWith(document, script.slice(at, end)))
      return { text: textOf(document, script.slice(from, at)), end }
    at = end
  }
  return undefined
}

/** Without the tabs that are not of it. */
export function textOf({ stripsTabs }: HereDocument, lines: string): string {
  return stripsTabs ? lines.replaceAll(/^\t+/gm, '') : lines
}

function lineEnd(script: string, at: number): number {
  const end = script.indexOf('\n', at)
  return end === -1 ? script.length : end + 1
}
