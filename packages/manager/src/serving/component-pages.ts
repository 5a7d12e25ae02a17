/** /flagz and /statusz: for people, as text; for programs, as JSON or YAML to those that ask for it. Pure. */
import {
  COMPONENT_PAGE_VERSIONS,
  isPretty,
  parseAccept,
  type ComponentPage,
} from '@gyropilot/foundation'
import { objectText } from './object-text.ts'
import type { Answer, IncomingRequest } from './request.ts'

const GROUP = 'config.k8s.io'
const NEWEST = COMPONENT_PAGE_VERSIONS.at(-1)!
const JSON_TYPE = 'application/json'
const YAML_TYPE = 'application/yaml'
const NOT_ACCEPTABLE =
  'only the following media types are accepted: application/json, application/yaml, text/plain'

export async function componentAnswer(
  page: ComponentPage,
  { headers, query }: IncomingRequest,
): Promise<Answer> {
  const accept = headers['accept']?.[0]
  const isForEyes = isPretty(query, headers['user-agent']?.[0])
  const form = formOf(page.kind, accept)
  if (form === 'text')
    return {
      status: 200,
      contentType: 'text/plain; charset=utf-8',
      sniffable: true,
      body: page.text,
    }
  if (form === undefined) {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: NOT_ACCEPTABLE,
      reason: 'NotAcceptable',
      code: 406,
    }
    const plain = plainType(accept)
    const refusal = { status: 406, contentType: plain ?? JSON_TYPE, sniffable: true } as const
    if (plain === YAML_TYPE) return { ...refusal, body: await yaml(status) }
    return { ...refusal, body: objectText(status, plain === undefined || isForEyes) }
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
        ? objectText(page.object(version), isForEyes)
        : await yaml(page.object(version)),
    ...(version === NEWEST ? {} : { headers: { warning } }),
  }
}

async function yaml(value: object): Promise<string> {
  const { formatYaml } = await import('@gyropilot/foundation/yaml-text')
  return formatYaml(value)
}

/** How an error is told: as the first of both types, without a kind that the object is wanted as. */
function plainType(accept: string | undefined): string | undefined {
  return parseAccept(accept ?? '').find(
    ({ type, parameters: { as, g, v } }) =>
      (type === JSON_TYPE || type === YAML_TYPE) && (as ?? g ?? v) === undefined,
  )?.type
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
