/** Refusals as API servers tell them, in the form that Accept asks for. Contract: docs/behaviour/runtime/manager.md, Serving. */
import { isPretty, parseAccept } from '@gyropilot/foundation'
import { objectText, yamlText } from './object-text.ts'
import type { Answer, IncomingRequest } from './request.ts'

export const JSON_TYPE = 'application/json'
export const YAML_TYPE = 'application/yaml'
const ANYTHING = new Set(['*/*', 'application/*', JSON_TYPE])

/** What differs between refusals, in the order in which it is told. */
interface Why {
  readonly message: string
  readonly reason: string
  readonly details?: object
}

export async function statusAnswer(
  { query, headers }: Pick<IncomingRequest, 'query' | 'headers'>,
  code: number,
  why: Why,
): Promise<Answer> {
  const common = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' }
  const status = { ...common, ...why, code }
  const form = formOf(headers['accept']?.[0] ?? '')
  if (form?.type === YAML_TYPE)
    return { status: code, contentType: YAML_TYPE, body: await yamlText(status) }
  const isForEyes = form === undefined || form.pretty || isPretty(query, headers['user-agent']?.[0])
  return { status: code, contentType: JSON_TYPE, body: objectText(status, isForEyes) }
}

/** The first of both types, without a kind that the object is wanted as. Undefined: neither is right, and it is told for eyes. */
function formOf(accept: string): { readonly type: string; readonly pretty: boolean } | undefined {
  if (accept.trim() === '') return { type: JSON_TYPE, pretty: false }
  const clause = parseAccept(accept).find(
    ({ type, parameters: { as, g, v } }) =>
      (ANYTHING.has(type) || type === YAML_TYPE) && (as ?? g ?? v) === undefined,
  )
  return clause && { type: clause.type, pretty: clause.parameters['pretty'] === '1' }
}
