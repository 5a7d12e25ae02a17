/** Where `$( )` ends: parentheses in quotes, comments and here documents do not count. Pure. */
import { hereDocumentAt, textAt } from './here-documents.ts'
import type { HereDocument } from './here-documents.ts'
import { Unfinished } from './syntax-problem.ts'

/** Of the parenthesis at `open`. Throws Unfinished. */
export function closingParenthesis(script: string, open: number): number {
  const documents: HereDocument[] = []
  let depth = 0
  for (let at = open; at < script.length; at++) {
    const char = script[at]!
    if (char === '\\') at++
    else if (char === "'") at = found(script.indexOf("'", at + 1))
    else if (char === '"') at = closingQuote(script, at)
    else if (char === '#' && /[\s;&|(]/.test(script[at - 1]!))
      at = found(script.indexOf('\n', at)) - 1
    else if (char === '<') {
      const document = hereDocumentAt(script, at)
      if (document === undefined) continue
      documents.push(document)
      at = document.end - 1
    } else if (char === '\n') {
      for (const document of documents.splice(0))
        at = found(textAt(document, script, at + 1)?.end ?? -1) - 1
    } else if (char === '(') depth++
    else if (char === ')' && --depth === 0) return at
  }
  throw unterminated()
}

/** Of the double quote at `open`. */
function closingQuote(script: string, open: number): number {
  for (let at = open + 1; at < script.length; at++) {
    const char = script[at]!
    if (char === '\\') at++
    else if (char === '"') return at
    else if (script.startsWith('$(', at)) at = closingParenthesis(script, at + 1)
  }
  throw unterminated()
}

function found(at: number): number {
  if (at < 0) throw unterminated()
  return at
}

function unterminated(): Unfinished {
  return Unfinished.until(')', 'syntax error: unterminated "$("')
}
