/**
 * One record of comma-separated values, as Go's encoding/csv reads and writes it: pflag keeps its lists so.
 * Contract: docs/behaviour/runtime/manager.md, Startup sequence. Pure.
 */

const BARE = 'bare " in non-quoted-field'
const QUOTE = 'extraneous or missing " in quoted-field'

/** What is wrong with a record, in Go's words. */
export class CsvError extends Error {
  override name = 'CsvError'
}

/** The fields of the first record; what comes after it counts for nothing. Empty lines are no records. */
export function readCsvRecord(text: string): string[] {
  const lines = linesOf(text)
  let at = lines.findIndex((line) => line !== '\n')
  if (at < 0) throw new CsvError('EOF')
  const first = at
  const fields: string[] = []
  let line = lines[at]!
  let column = 0
  const refuse = (what: string, where: number): CsvError => {
    const position = `parse error on line ${at + 1}, column ${Buffer.byteLength(line.slice(0, where)) + 1}: ${what}`
    return new CsvError(at === first ? position : `record on line ${first + 1}; ${position}`)
  }
  for (;;) {
    if (line[column] !== '"') {
      const [plain = ''] = /^[^,\n]*/.exec(line.slice(column)) ?? []
      const quote = plain.indexOf('"')
      if (quote >= 0) throw refuse(BARE, column + quote)
      fields.push(plain)
      column += plain.length
    } else {
      let field = ''
      column++
      for (;;) {
        const quote = line.indexOf('"', column)
        if (quote < 0) {
          // A quoted field goes on in the next line.
          field += line.slice(column)
          if (at + 1 === lines.length) throw refuse(QUOTE, line.length)
          line = lines[++at]!
          column = 0
          continue
        }
        field += line.slice(column, quote)
        column = quote + 1
        if (line[column] !== '"') break
        field += '"'
        column++
      }
      if (column < line.length && !/[,\n]/.test(line[column]!)) throw refuse(QUOTE, column - 1)
      fields.push(field)
    }
    if (line[column] !== ',') return fields
    column++
  }
}

/** Each with its end, which is a bare newline; the last may have none. */
function linesOf(text: string): readonly string[] {
  return (text.match(/[^\n]*\n|[^\n]+$/g) ?? []).map((line) => line.replace(/\r(?=\n?$)/, ''))
}

export function csvRecord(fields: readonly string[]): string {
  return fields.map(csvField).join(',')
}

function csvField(field: string): string {
  const isQuoted = field === '\\.' || /^\s|[",\r\n]/.test(field)
  return isQuoted ? `"${field.replaceAll('"', '""')}"` : field
}
