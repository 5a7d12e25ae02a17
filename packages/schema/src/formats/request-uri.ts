/** The format `uri`: what Go's url.ParseRequestURI reads. That is a path or an URL; `#` has no meaning in it. */
import { parseIp } from '@gyropilot/api'

const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*:/
/** Space may stand in a path, other control characters nowhere. */
const CONTROL = /[\u0000-\u001f\u007f]/ // oxlint-disable-line no-control-regex -- they are what is looked for
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/
const USER = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/
const HOST_CHARACTER = String.raw`[A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"]|[^\u0000-\u007f]`
/** No other ASCII, and escapes of none but the percent sign. A colon stands in brackets or before the port only. */
const HOST = new RegExp(`^(?:${HOST_CHARACTER}|%25|%[89A-Fa-f][0-9A-Fa-f])*$`)
const ZONE = new RegExp(`^(?:${HOST_CHARACTER}|%[0-9A-Fa-f]{2})+$`)
const PORT = /^(?::\d*)?$/

export function isRequestUri(text: string): boolean {
  if (text === '' || CONTROL.test(text)) return false
  if (text === '*') return true
  if (text.startsWith(':')) return false
  const scheme = SCHEME.exec(text)?.[0] ?? ''
  const rest = text.slice(scheme.length).split('?', 1)[0]!
  if (!rest.startsWith('/')) return scheme !== ''
  if (scheme === '' || !rest.startsWith('//')) return !BAD_ESCAPE.test(rest)
  const pathAt = rest.indexOf('/', 2)
  const authority = pathAt === -1 ? rest.slice(2) : rest.slice(2, pathAt)
  const path = pathAt === -1 ? '' : rest.slice(pathAt)
  return isAuthority(authority) && !BAD_ESCAPE.test(path)
}

function isAuthority(authority: string): boolean {
  const userEndAt = authority.lastIndexOf('@')
  const user = authority.slice(0, Math.max(0, userEndAt))
  return USER.test(user) && !BAD_ESCAPE.test(user) && isHost(authority.slice(userEndAt + 1))
}

function isHost(host: string): boolean {
  if (host.startsWith('[')) {
    const endAt = host.lastIndexOf(']')
    return endAt !== -1 && PORT.test(host.slice(endAt + 1)) && isBracketed(host.slice(1, endAt))
  }
  const portAt = host.lastIndexOf(':')
  const port = portAt === -1 ? '' : host.slice(portAt)
  const name = portAt === -1 ? host : host.slice(0, portAt)
  return PORT.test(port) && HOST.test(name) && !name.includes(':')
}

/** An IPv6 address, and behind `%25` perhaps a zone. */
function isBracketed(text: string): boolean {
  const zoneAt = text.indexOf('%25')
  const address = zoneAt === -1 ? text : text.slice(0, zoneAt)
  return parseIp(address)?.family === 6 && (zoneAt === -1 || ZONE.test(text.slice(zoneAt + 3)))
}
