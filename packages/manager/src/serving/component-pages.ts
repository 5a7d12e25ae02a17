/** /flagz and /statusz: for people, as text; for programs, as JSON or YAML to those that ask for it. Pure. */
import {
  COMPONENT_PAGE_VERSIONS,
  isPretty,
  parseAccept,
  type ComponentPage,
} from '@gyropilot/foundation'
import { objectText, yamlText } from './object-text.ts'
import type { Answer, IncomingRequest } from './request.ts'
import { JSON_TYPE, YAML_TYPE, statusAnswer } from './status-answer.ts'

const GROUP = 'config.k8s.io'
const NEWEST = COMPONENT_PAGE_VERSIONS.at(-1)!
const NOT_ACCEPTABLE =
  'only the following media types are accepted: application/json, application/yaml, text/plain'

export async function componentAnswer(
  page: ComponentPage,
  request: IncomingRequest,
): Promise<Answer> {
  const { headers, query } = request
  const form = formOf(page.kind, headers['accept']?.[0])
  if (form === 'text')
    return {
      status: 200,
      contentType: 'text/plain; charset=utf-8',
      sniffable: true,
      body: page.text,
    }
  if (form === undefined) {
    const why = { message: NOT_ACCEPTABLE, reason: 'NotAcceptable' }
    return { ...(await statusAnswer(request, 406, why)), sniffable: true }
  }
  const { type, version } = form
  const { kind } = page
  const warning = `299 - "This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version."`
  return {
    status: 200,
    contentType: `${type};g=${GROUP};v=${version};as=${kind}`,
    sniffable: true,
    body:
      type === JSON_TYPE
        ? objectText(page.object(version), isPretty(query, headers['user-agent']?.[0]))
        : await yamlText(page.object(version)),
    ...(version === NEWEST ? {} : { headers: { warning } }),
  }
}

/** The first acceptable form of the Accept header; an object only with the kind and a version it exists in. */
function formOf(
  kind: string,
  accept: string | undefined,
): 'text' | { readonly type: string; readonly version: string } | undefined {
  if (accept === undefined || accept.trim() === '') return 'text'
  for (const { type, parameters } of parseAccept(accept)) {
    if (type === '*/*' || type === 'text/*' || type === 'text/plain') return 'text'
    const { v, g, as } = parameters
    if (type !== JSON_TYPE && type !== YAML_TYPE) continue
    if (as !== kind || g !== GROUP) continue
    if (v !== undefined && COMPONENT_PAGE_VERSIONS.includes(v)) return { type, version: v }
  }
  return undefined
}
