/** Addresses as wget and curl take them. */

export interface HttpUrl {
  readonly host: string
  readonly port: number
  readonly path: string
  /** `user:password` */
  readonly user?: string
  readonly text: string
  /** It is https. */
  readonly isEncrypted?: boolean
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** Without a scheme it is http. Undefined: of another scheme, or none at all; and https, unless whoever asks knows that. */
export function httpUrl(text: string, knowsHttps = false): HttpUrl | undefined {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  if (!URL.canParse(whole)) return undefined
  const { protocol, hostname, port, pathname, search, username, password } = new URL(whole)
  const isEncrypted = knowsHttps && protocol === 'https:'
  if ((protocol !== 'http:' && !isEncrypted) || hostname === '') return undefined
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? PORTS[protocol]! : Number(port),
    ...(isEncrypted ? { isEncrypted } : {}),
    path: `${pathname}${search}`,
    ...(username === '' ? {} : { user: `${username}:${password}` }),
    text: whole,
  }
}

/** Where a redirection leads. */
export function redirectedTo(from: HttpUrl, location: string): HttpUrl | undefined {
  if (!URL.canParse(location, from.text)) return undefined
  return httpUrl(new URL(location, from.text).href, from.isEncrypted)
}
