/** A refusal of the server, taken apart into one finding for each mistake. Pure. */
import type { Status } from '@gyropilot/api'
import { goUnquote } from '@gyropilot/schema/go-quote'

export interface Mistake {
  /** One line in the words of the server. */
  readonly message: string
  readonly field?: string
  readonly reason: string
}

const STRICT = 'strict decoding error: '

/** Unknown and repeated fields, or undefined when it is refused for something else. */
export function strictMistakes({ code, message = '', reason = '' }: Status): Mistake[] | undefined {
  const at = message.indexOf(STRICT)
  if (code !== 400 || at < 0) return undefined
  const head = message.slice(0, at + STRICT.length)
  const problems = [
    ...message.slice(head.length).matchAll(/(?:unknown|duplicate) field ("(?:[^"\\]|\\.)*")/g),
  ]
  if (problems.length === 0) return [{ message: oneLine(message), reason }]
  return problems.map(([problem, quoted]) => ({
    message: oneLine(head + problem),
    field: goUnquote(quoted!),
    reason,
  }))
}

/** Whether the body could not be read as an object of its kind: then nothing else has been looked at. */
export function isUndecodable({ code, message = '' }: Status): boolean {
  return code === 400 && /cannot be handled as a|couldn't get version\/kind/.test(message)
}

export function mistakesOf(status: Status): Mistake[] {
  const { message = '', reason = '', details } = status
  const causes = details?.causes ?? []
  const [, head] = /^(.*? is invalid: )/s.exec(message) ?? []
  if (reason !== 'Invalid' || head === undefined || causes.length === 0)
    return [{ message: oneLine(message), reason }]
  return causes.map((cause) => {
    const field = cause.field === '<nil>' ? '' : (cause.field ?? '')
    const text = field === '' ? (cause.message ?? '') : `${field}: ${cause.message}`
    return {
      message: oneLine(head + text),
      reason: cause.reason ?? reason,
      ...(field === '' ? {} : { field }),
    }
  })
}

export function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, ' ')
}
