/** URLs as Go reads them: absolute, or beginning with a slash. */
import { onePass } from '../costs/cost.ts'
import { declare } from '../checking/signature.ts'
import type { Library } from '../checking/signature.ts'
import { opaqueType } from '../checking/types.ts'
import { ArrayList, EntryMap, EvaluationError, Opaque } from '../values/values.ts'
import type { CelMap } from '../values/values.ts'

class UrlValue extends Opaque {
  readonly typeName = 'kubernetes.URL'
  readonly scheme: string
  readonly host: string
  readonly escapedPath: string
  readonly rawQuery: string
  readonly text: string

  constructor(text: string, match: RegExpExecArray) {
    super()
    this.text = text
    this.scheme = (match[1] ?? '').toLowerCase()
    this.host = match[3] ?? ''
    this.escapedPath = escapePath(match[4] ?? '')
    this.rawQuery = match[5] ?? ''
  }

  override equals(other: Opaque): boolean {
    return (other as UrlValue).text === this.text
  }

  override get costSize(): number {
    return this.text.length
  }
}

const ABSOLUTE =
  /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^@/?#]*)@)?((?:\[[0-9A-Fa-f:.%]+\]|[^:/?#[\]]*)(?::\d*)?)(?=[/?]|$))?([^?]*)(?:\?(.*))?$/s

function parseUrl(text: string): UrlValue | undefined {
  // Control characters are refused, and escapes have two digits.
  if (text === '' || hasControl(text) || /%(?![0-9A-Fa-f]{2})/.test(text)) return undefined
  const match = ABSOLUTE.exec(text)
  if (match === null) return undefined
  const [, scheme, , host, path = ''] = match
  const absolute = scheme !== undefined
  if (!absolute && !text.startsWith('/')) return undefined
  if (
    text.slice(absolute ? scheme.length + 1 : 0).startsWith('//') &&
    host === undefined &&
    absolute
  )
    return undefined
  if (host !== undefined && /[\s<>"^`{|}\\]/.test(host)) return undefined
  // `mailto:x` has no path but an opaque part.
  if (absolute && host === undefined && !path.startsWith('/') && path === '') return undefined
  return new UrlValue(text, match)
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

/** A path that is escaped already stays; other characters are escaped. */
function escapePath(path: string): string {
  return [...path]
    .map((character) =>
      /[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%]/.test(character)
        ? character
        : encodeURIComponent(character),
    )
    .join('')
}

function url(text: string): UrlValue {
  const parsed = parseUrl(text)
  if (parsed === undefined)
    throw new EvaluationError(
      `URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`,
    )
  return parsed
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
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

export const URLS: Library = {
  constants: [{ name: 'kubernetes.URL', type: opaqueType('kubernetes.URL') }],
  overloads: [
    declare('url(string): kubernetes.URL', url, onePass()),
    declare('isURL(string): bool', (text: string) => parseUrl(text) !== undefined, {
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
