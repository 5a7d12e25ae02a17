/** Findings as lines that people and editors read: `FILE:LINE:COLUMN: error: ...`. Pure. */
import { nameText } from './findings.ts'
import type { Finding, Severity } from './findings.ts'

const COLORS: Readonly<Record<Severity, string>> = { error: '31', warning: '33', notice: '36' }

export function reportText(findings: readonly Finding[], color: boolean): string {
  return findings.map((finding) => `${line(finding, color)}\n`).join('')
}

function line(finding: Finding, color: boolean): string {
  const { severity, template } = finding
  const style = (code: string, text: string): string =>
    color ? `\x1b[${code}m${text}\x1b[0m` : text
  const place = style('1', `${placeText(finding)}:`)
  const origin = template === undefined ? '' : ` ${style('2', `(${template})`)}`
  return `${place} ${style(COLORS[severity], `${severity}:`)} ${messageText(finding)}${origin}`
}

function placeText({ file, line: row, column }: Finding): string {
  return row === 0 ? file : `${file}:${row}:${column}`
}

/** Which object it is about stands in front, where the server's words do not name it. */
export function messageText({ message, object }: Finding): string {
  if (object === undefined || object.name === '') return message
  const isNamed =
    message.includes(JSON.stringify(object.name)) || message.includes(nameText(object))
  return isNamed ? message : `${nameText(object)}: ${message}`
}
