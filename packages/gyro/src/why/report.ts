/** The answer as a tree of lines for people. Pure. */
import { wrapped } from '../flag-help.ts'
import { sinceText } from './words.ts'
import { holders } from './walk.ts'
import type { Answer, AnsweredReason } from './walk.ts'

const NARROWEST = 80
const MOST_HOLDERS = 8

/** `columns` is the width of the terminal. */
export function reportText(answer: Answer, nowMs: number, columns: number): string {
  const lines = objectLines(answer, nowMs, '', '', Math.max(columns, NARROWEST))
  const ends = [...new Set(holders(answer).map(({ text }) => text))]
  const isChain = answer.reasons.some(({ waitsFor }) => waitsFor.length > 0)
  if (answer.state === 'deleting' && isChain && ends.length > 0) {
    lines.push('', 'What holds it in the end:')
    lines.push(...ends.slice(0, MOST_HOLDERS).map((text) => `  ${text}`))
    if (ends.length > MOST_HOLDERS) lines.push(`  and ${ends.length - MOST_HOLDERS} more`)
  }
  return `${lines.join('\n')}\n`
}

function objectLines(
  answer: Answer,
  nowMs: number,
  first: string,
  indent: string,
  columns: number,
): string[] {
  const lines = [`${first}${heading(answer, nowMs)}`]
  for (const reason of answer.reasons) lines.push(...reasonLines(reason, nowMs, indent, columns))
  for (const note of answer.notes) lines.push(entry(indent, 'note', note, columns))
  return lines
}

function heading({ name, object, state, since, reasons }: Answer, nowMs: number): string {
  const who = object.namespace ? `${name} in ${object.namespace}` : name
  switch (state) {
    case 'deleting':
      return `${who} is being deleted, ${sinceText(since ?? '', nowMs)}`
    case 'present':
      return `${who} is not being deleted${reasons.length === 0 ? ': nobody has asked for it' : ''}`
    case 'gone':
      return `${who} is gone by now`
    case 'told':
      return `${who}: see above`
    case 'not looked at':
      return `${who}: not looked at, ask for it with gyro why`
  }
}

function reasonLines(
  reason: AnsweredReason,
  nowMs: number,
  indent: string,
  columns: number,
): string[] {
  const { holds, since, evidence, remover, release, waitsFor, andMore } = reason
  const when = since === undefined ? '' : `, ${sinceText(since, nowMs)}`
  const lines = [entry(indent, 'held by', `${holds}${when}`, columns)]
  for (const text of evidence) lines.push(entry(indent, '', text, columns))
  if (remover !== undefined) lines.push(entry(indent, 'removed by', remover, columns))
  lines.push(entry(indent, 'released', release, columns))
  const deeper = `${indent}    `
  for (const next of waitsFor)
    lines.push(...objectLines(next, nowMs, `${indent}  - `, deeper, columns))
  if (andMore > 0) lines.push(`${indent}  - and ${andMore} more`)
  return lines
}

const LABEL_WIDTH = 12

function entry(indent: string, label: string, text: string, columns: number): string {
  const beside = `${indent}  ${' '.repeat(LABEL_WIDTH)}`
  return `${indent}  ${label.padEnd(LABEL_WIDTH)}${wrapped(text, beside, columns)}`
}
