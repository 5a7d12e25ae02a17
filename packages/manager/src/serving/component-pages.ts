/** /flagz and /statusz: for people, as text; for programs, as JSON to those that ask for it. Pure. */
import { COMPONENT_PAGE_VERSIONS, type ComponentPage } from '@gyropilot/foundation'
import type { Answer } from './request.ts'

export function componentAnswer(page: ComponentPage, accept: string | undefined): Answer {
  const form = formOf(page.kind, accept)
  if (form === 'text')
    return { status: 200, contentType: 'text/plain; charset=utf-8', body: page.text }
  if (form === undefined) {
    const body = 'the server could not find a requested media type\n'
    return { status: 406, contentType: 'text/plain; charset=utf-8', body }
  }
  const body = JSON.stringify(page.object(form.version))
  return { status: 200, contentType: 'application/json', body }
}

/** The first acceptable form of the Accept header; JSON only with the kind and a version it exists in. */
function formOf(
  kind: string,
  accept: string | undefined,
): 'text' | { readonly version: string } | undefined {
  if (accept === undefined || accept.trim() === '') return 'text'
  for (const clause of accept.split(',')) {
    const [type = '', ...parameters] = clause.split(';').map((part) => part.trim())
    if (type === '*/*' || type === 'text/*' || type === 'text/plain') return 'text'
    const { v, g, as } = Object.fromEntries(parameters.map((pair) => pair.split('=')))
    if (type === 'application/json' && as === kind && g === 'config.k8s.io') {
      if (v !== undefined && COMPONENT_PAGE_VERSIONS.includes(v)) return { version: v }
    }
  }
  return undefined
}
