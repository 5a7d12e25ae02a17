/** Addresses as wget and curl take them. */

export interface HttpUrl {
  readonly host: string
  readonly port: number
  readonly path: string
  /** `user:password` */
  readonly user?: string
  readonly text: string
}

const HTTP_PORT = 80

/** Without a scheme it is http. Undefined: of another scheme, which nothing here speaks; or none at all. */
export function httpUrl(text: string): HttpUrl | undefined {
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  if (!URL.canParse(whole)) return undefined
  const { protocol, hostname, port, pathname, search, username, password } = new URL(whole)
  if (protocol !== 'http:' || hostname === '') return undefined
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? HTTP_PORT : Number(port),
    path: `${pathname}${search}`,
    ...(username === '' ? {} : { user: `${username}:${password}` }),
    text: whole,
  }
}

/** Where a redirection leads. */
export function redirectedTo(from: HttpUrl, location: string): HttpUrl | undefined {
  return URL.canParse(location, from.text) ? httpUrl(new URL(location, from.text).href) : undefined
}
