/** URLs as Go's net/url reads them, and what it says of those that it refuses. https://pkg.go.dev/net/url */
import { goQuote } from '@gyropilot/schema/go-quote'

export interface GoUrl {
  readonly scheme: string
  readonly host: string
  /** As it is sent: what was escaped stays so, what has to be is. */
  readonly escapedPath: string
  readonly rawQuery: string
  /** The whole again, in one spelling: two URLs are equal when these are. */
  readonly text: string
}

/** What Go says of a text. The message is what stands behind `parse "...": `. */
export class UrlError extends Error {}

type Part = 'path' | 'host' | 'zone' | 'query'

/** Undefined for a URL that a request may name; else what is wrong with it. A fragment is part of what stands before it. */
export function requestUriProblem(text: string): string | undefined {
  try {
    parse(text, true)
    return undefined
  } catch (error) {
    if (error instanceof UrlError) return error.message
    throw error
  }
}

/** Without its fragment. Throws UrlError. */
export function parseGoUrl(text: string): GoUrl {
  const hash = text.indexOf('#')
  if (hash < 0) return parse(text, false)
  const fragment = escapedPathOf(text.slice(hash + 1))
  const url = parse(text.slice(0, hash), false)
  return fragment === '' ? url : { ...url, text: `${url.text}#${fragment}` }
}

function parse(text: string, viaRequest: boolean): GoUrl {
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (/[\x00-\x1f\x7f]/.test(text)) throw new UrlError('net/url: invalid control character in URL')
  if (text === '' && viaRequest) throw new UrlError('empty url')
  if (text === '*') return urlOf({ escapedPath: '*' })
  if (text.startsWith(':')) throw new UrlError('missing protocol scheme')
  const [, named] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text) ?? []
  const scheme = (named ?? '').toLowerCase()
  const behind = named === undefined ? text : text.slice(named.length + 1)
  const mark = behind.indexOf('?')
  const rest = mark < 0 ? behind : behind.slice(0, mark)
  const rawQuery = mark < 0 ? '' : behind.slice(mark + 1)
  if (!rest.startsWith('/')) {
    if (scheme !== '') return urlOf({ scheme, rawQuery }, rest)
    if (viaRequest) throw new UrlError('invalid URI for request')
    if (rest.split('/')[0]!.includes(':'))
      throw new UrlError('first path segment in URL cannot contain colon')
  }
  const hasAuthority =
    rest.startsWith('//') && (scheme !== '' || (!viaRequest && !rest.startsWith('///')))
  if (!hasAuthority) return urlOf({ scheme, escapedPath: escapedPathOf(rest), rawQuery })
  const slash = rest.indexOf('/', 2)
  const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash)
  const host = hostOf(authority)
  const user = authority.slice(0, authority.lastIndexOf('@') + 1)
  const escapedPath = escapedPathOf(slash < 0 ? '' : rest.slice(slash))
  return urlOf({ scheme, host, escapedPath, rawQuery }, `//${user}${host}`)
}

/** `start`: what stands between scheme and path. */
function urlOf(
  { scheme = '', host = '', escapedPath = '', rawQuery = '' }: Partial<GoUrl>,
  start = '',
): GoUrl {
  const before = scheme === '' ? start : `${scheme}:${start}`
  const after = rawQuery === '' ? '' : `?${rawQuery}`
  return { scheme, host, escapedPath, rawQuery, text: `${before}${escapedPath}${after}` }
}

function hostOf(authority: string): string {
  const at = authority.lastIndexOf('@')
  const host = authority.slice(at + 1)
  const named = parsedHost(host)
  if (at >= 0 && !/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(authority.slice(0, at)))
    throw new UrlError('net/url: invalid userinfo')
  return named
}

function parsedHost(host: string): string {
  if (!host.startsWith('[')) {
    const colon = host.lastIndexOf(':')
    if (colon >= 0) checkPort(host.slice(colon))
    return unescape(host, 'host')
  }
  const end = host.lastIndexOf(']')
  if (end < 0) throw new UrlError("missing ']' in host")
  checkPort(host.slice(end + 1))
  const zone = host.slice(0, end).indexOf('%25')
  if (zone < 0) return unescape(host, 'host')
  const [before, inside, after] = [host.slice(0, zone), host.slice(zone, end), host.slice(end)]
  return unescape(before, 'host') + unescape(inside, 'zone') + unescape(after, 'host')
}

function checkPort(text: string): void {
  if (!/^(:\d*)?$/.test(text)) throw new UrlError(`invalid port ${goQuote(text)} after host`)
}

/** Bytes that need no escape in a host. */
const HOST = /[A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"]/
const PATH = /[A-Za-z0-9\-_.~$&+,/:;=@]/
/** Bytes that a path may have as they are, though they would be escaped. */
const PATH_AS_IT_IS = /^(?:[A-Za-z0-9\-_.~$&+,/:;=@!'()*[\]%])*$/

/** Throws UrlError. */
export function unescape(text: string, part: Part): string {
  const isHost = part === 'host' || part === 'zone'
  const bytes: number[] = []
  for (let at = 0; at < text.length;) {
    const character = String.fromCodePoint(text.codePointAt(at)!)
    at += character.length
    if (character !== '%') {
      if (isHost && character < '\x80' && !HOST.test(character))
        throw new UrlError(`invalid character ${goQuote(character)} in host name`)
      bytes.push(...Buffer.from(part === 'query' && character === '+' ? ' ' : character))
      continue
    }
    const escape = text.slice(at - 1, at + 2)
    if (!/^%[0-9A-Fa-f]{2}$/.test(escape)) throw refusedEscape(escape)
    const byte = Number.parseInt(escape.slice(1), 16)
    // Hosts have escapes only for what is not ASCII, zones also for what could not stand there else.
    if (part === 'host' && byte < 0x80 && escape !== '%25') throw refusedEscape(escape)
    const isOdd = byte !== 0x20 && (byte >= 0x80 || !HOST.test(String.fromCharCode(byte)))
    if (part === 'zone' && escape !== '%25' && isOdd) throw refusedEscape(escape)
    bytes.push(byte)
    at += 2
  }
  return Buffer.from(bytes).toString()
}

function refusedEscape(text: string): UrlError {
  return new UrlError(`invalid URL escape ${goQuote(text)}`)
}

function escapedPathOf(path: string): string {
  const plain = unescape(path, 'path')
  if (PATH_AS_IT_IS.test(path)) return path
  return [...Buffer.from(plain)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      if (byte < 0x80 && PATH.test(character)) return character
      return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}
