/** /flagz and /statusz: for people, as text; for programs, as JSON or YAML to those that ask for it. Pure. */
import { COMPONENT_PAGE_VERSIONS, parseAccept, type ComponentPage } from '@gyropilot/foundation'
import type { Answer } from './request.ts'

const GROUP = 'config.k8s.io'
const NEWEST = COMPONENT_PAGE_VERSIONS.at(-1)!
const NOT_ACCEPTABLE =
  'only the following media types are accepted: application/json, application/yaml, text/plain'

export async function componentAnswer(
  page: ComponentPage,
  accept: string | undefined,
): Promise<Answer> {
  const form = formOf(page.kind, accept)
  if (form === 'text')
    return { status: 200, contentType: 'text/plain; charset=utf-8', body: page.text }
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
    return { status: 406, contentType: 'application/json', body: pretty(status) }
  }
  const { type, version } = form
  const { kind } = page
  const warning = `299 - "This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version."`
  return {
    status: 200,
    contentType: `${type};g=${GROUP};v=${version};as=${kind}`,
    body:
      type === 'application/json' ? pretty(page.object(version)) : await yaml(page.object(version)),
    ...(version === NEWEST ? {} : { headers: { warning } }),
  }
}

async function yaml(value: object): Promise<string> {
  const { formatYaml } = await import('@gyropilot/foundation/yaml-text')
  return formatYaml(value)
}

/** As upstream prints objects for eyes. */
function pretty(value: object): string {
  return JSON.stringify(value, undefined, 2)
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
    if (type !== 'application/json' && type !== 'application/yaml') continue
    if (as !== kind || g !== GROUP) continue
    if (v !== undefined && COMPONENT_PAGE_VERSIONS.includes(v)) return { type, version: v }
  }
  return undefined
}
