/** Addresses of webhooks: what Go's URL parser takes, and what of it a webhook may use. */
import type { FieldErrors } from '@gyropilot/schema/field-errors'

const FORM = 'desired format: https://host[/path]'

interface GoUrl {
  readonly scheme: string
  readonly user?: string
  readonly host: string
  readonly query: string
  readonly fragment: string
}

class UrlError extends Error {}

const isControl = (character: string): boolean => character < ' ' || character === '\u007f'
const BAD_ESCAPE = /%(?![0-9a-fA-F]{2}).{0,2}/s
/** ASCII that no host name may hold. */
const BAD_HOST_CHARACTER = /[^\w\-.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/

function checkEscapes(text: string): void {
  const bad = BAD_ESCAPE.exec(text)
  if (bad) throw new UrlError(`invalid URL escape ${JSON.stringify(bad[0])}`)
}

/** The scheme ends at the first colon; a character that no scheme may hold means that there is none. */
function splitScheme(text: string): readonly [scheme: string, rest: string] {
  if (text.startsWith(':')) throw new UrlError('missing protocol scheme')
  const match = /^([a-zA-Z][a-zA-Z0-9+\-.]*):/.exec(text)
  if (match === null) return ['', text]
  return [match[1]!.toLowerCase(), text.slice(match[0].length)]
}

function checkHost(host: string): void {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']')
    if (end < 0) throw new UrlError("missing ']' in host")
    checkPort(host.slice(end + 1))
  } else if (host.includes(':')) checkPort(host.slice(host.lastIndexOf(':')))
  checkEscapes(host)
  const bad = BAD_HOST_CHARACTER.exec(host)
  if (bad) throw new UrlError(`invalid character ${JSON.stringify(bad[0])} in host name`)
}

function checkPort(text: string): void {
  if (text !== '' && !/^:\d*$/.test(text))
    throw new UrlError(`invalid port ${JSON.stringify(text)} after host`)
}

function parseGoUrl(text: string): GoUrl {
  const hash = text.indexOf('#')
  const fragment = hash < 0 ? '' : text.slice(hash + 1)
  const whole = hash < 0 ? text : text.slice(0, hash)
  if ([...whole].some(isControl)) throw new UrlError('net/url: invalid control character in URL')
  const [scheme, afterScheme] = splitScheme(whole)
  const mark = afterScheme.indexOf('?')
  const query = mark < 0 ? '' : afterScheme.slice(mark + 1)
  const rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark)
  const parts = { scheme, host: '', query, fragment }
  if (!rest.startsWith('/')) {
    if (scheme !== '') return parts
    if (rest.split('/')[0]!.includes(':'))
      throw new UrlError('first path segment in URL cannot contain colon')
  }
  if (!rest.startsWith('//') || (scheme === '' && rest.startsWith('///'))) {
    checkEscapes(rest)
    return parts
  }
  const slash = rest.indexOf('/', 2)
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash)
  const at = authority.lastIndexOf('@')
  const host = authority.slice(at + 1)
  checkHost(host)
  if (slash >= 0) checkEscapes(rest.slice(slash))
  return at < 0 ? { ...parts, host } : { ...parts, host, user: authority.slice(0, at) }
}

export function validateWebhookUrl(text: string, errors: FieldErrors, field: string): void {
  let url: GoUrl
  try {
    url = parseGoUrl(text)
  } catch (error) {
    if (!(error instanceof UrlError)) throw error
    const shown = JSON.stringify(text.split('#')[0])
    errors.required(field, `url must be a valid URL: parse ${shown}: ${error.message}; ${FORM}`)
    return
  }
  if (url.scheme !== 'https')
    errors.invalid(field, url.scheme, `'https' is the only allowed URL scheme; ${FORM}`)
  if (url.host === '') errors.invalid(field, url.host, `host must be specified; ${FORM}`)
  if (url.user !== undefined)
    errors.invalid(field, url.user, 'user information is not permitted in the URL')
  if (url.fragment !== '')
    errors.invalid(field, url.fragment, 'fragments are not permitted in the URL')
  if (url.query !== '')
    errors.invalid(field, url.query, 'query parameters are not permitted in the URL')
}
