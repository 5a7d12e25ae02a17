/** Findings as workflow commands, which GitHub shows beside the lines of a pull request. Pure. */
import { nameText } from './findings.ts'
import type { Finding } from './findings.ts'
import { messageText } from './report-text.ts'

export function reportGithub(findings: readonly Finding[]): string {
  return findings.map((finding) => `${command(finding)}\n`).join('')
}

function command(finding: Finding): string {
  const { severity, file, line, column, object } = finding
  const properties = [
    ...(file === 'stdin' ? [] : [`file=${escapedProperty(file)}`]),
    ...(line === 0 || file === 'stdin' ? [] : [`line=${line}`, `col=${column}`]),
    ...(object === undefined ? [] : [`title=${escapedProperty(nameText(object))}`]),
  ]
  const place = file === 'stdin' && line > 0 ? `stdin:${line}:${column}: ` : ''
  const head = properties.length === 0 ? severity : `${severity} ${properties.join(',')}`
  return `::${head}::${escaped(`${place}${messageText(finding)}`)}`
}

function escaped(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function escapedProperty(text: string): string {
  return escaped(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}
