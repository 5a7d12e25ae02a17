/** URLs as Go reads them: absolute, or beginning with a slash. */
import { goQuote } from '@gyropilot/schema/go-quote'
import { SHORTER_TEXT, onePass } from '../costs/cost.ts'
import { declare } from '../checking/signature.ts'
import type { Library } from '../checking/signature.ts'
import { opaqueType } from '../checking/types.ts'
import { ArrayList, EntryMap, EvaluationError, Opaque } from '../values/values.ts'
import type { CelMap } from '../values/values.ts'
import { UrlError, parseGoUrl, requestUriProblem, unescape } from './go-url.ts'
import type { GoUrl } from './go-url.ts'

class UrlValue extends Opaque {
  readonly typeName = 'kubernetes.URL'
  readonly scheme: string
  readonly host: string
  readonly escapedPath: string
  readonly rawQuery: string
  readonly text: string
  readonly #url: GoUrl

  constructor(text: string, url: GoUrl) {
    super()
    const { scheme, host, escapedPath, rawQuery } = url
    this.#url = url
    this.text = text
    this.scheme = scheme
    this.host = host
    this.escapedPath = escapedPath
    this.rawQuery = rawQuery
  }

  override equals(other: Opaque): boolean {
    return (other as UrlValue).#url.text === this.#url.text
  }

  override get costSize(): number {
    return this.text.length
  }
}

function url(text: string): UrlValue {
  const problem = requestUriProblem(text)
  if (problem !== undefined) throw refused(text, problem)
  try {
    return new UrlValue(text, parseGoUrl(text))
  } catch (error) {
    throw error instanceof UrlError ? refused(text, error.message) : error
  }
}

function refused(text: string, problem: string): EvaluationError {
  const shown = goQuote(text)
  return new EvaluationError(
    `URL parse error during conversion from string: parse ${shown}: ${problem}`,
  )
}

function hostname({ host }: UrlValue): string {
  const withoutPort = host.replace(/:\d*$/, '')
  return /^\[(.*)\]$/.exec(withoutPort)?.[1] ?? withoutPort
}

function port({ host }: UrlValue): string {
  return /:(\d*)$/.exec(host.replace(/^\[.*\]/, ''))?.[1] ?? ''
}

function query({ rawQuery }: UrlValue): CelMap {
  const values = new Map<string, string[]>()
  for (const part of rawQuery.split('&')) {
    // As Go: a part with a semicolon or a broken escape is left out.
    if (part === '' || part.includes(';')) continue
    const [name, ...rest] = part.split('=')
    const key = unescapeQuery(name!)
    const value = unescapeQuery(rest.join('='))
    if (key === undefined || value === undefined) continue
    values.set(key, [...(values.get(key) ?? []), value])
  }
  const map = new EntryMap()
  for (const [key, list] of values) map.insert(key, new ArrayList(list))
  return map
}

function unescapeQuery(text: string): string | undefined {
  try {
    return unescape(text, 'query')
  } catch (error) {
    if (error instanceof UrlError) return undefined
    throw error
  }
}

export const URLS: Library = {
  constants: [{ name: 'kubernetes.URL', type: opaqueType('kubernetes.URL') }],
  overloads: [
    declare('url(string): kubernetes.URL', url, SHORTER_TEXT),
    declare('isURL(string): bool', (text: string) => requestUriProblem(text) === undefined, {
      cost: onePass().cost!,
    }),
    declare('kubernetes.URL.getScheme(): string', ({ scheme }: UrlValue) => scheme),
    declare('kubernetes.URL.getHost(): string', ({ host }: UrlValue) => host),
    declare('kubernetes.URL.getHostname(): string', hostname),
    declare('kubernetes.URL.getPort(): string', port),
    declare('kubernetes.URL.getEscapedPath(): string', ({ escapedPath }: UrlValue) => escapedPath),
    declare('kubernetes.URL.getQuery(): map(string, list(string))', query),
  ],
}
