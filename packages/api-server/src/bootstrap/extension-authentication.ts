/** What extension servers read of a server's authorities: whose certificates are of users, whose are of proxies, and how those name a user. */
import { readableAuthorities } from '@gyropilot/foundation/x509'

export interface Authorities {
  readonly clientAuthorityPem?: string
  readonly frontProxyAuthorityPem?: string
}

const LISTS = {
  'requestheader-allowed-names': 'front-proxy-client',
  'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
  'requestheader-group-headers': 'X-Remote-Group',
  'requestheader-uid-headers': 'X-Remote-Uid',
  'requestheader-username-headers': 'X-Remote-User',
} as const

/**
 * What is known already (of a server beside this one, or of one before it) and this server's own, behind it. What cannot be read, and
 * certificates that have run out, are left out.
 */
export function extensionAuthentication(
  known: Readonly<Record<string, string>>,
  { clientAuthorityPem, frontProxyAuthorityPem }: Authorities,
  nowMs: number,
): Readonly<Record<string, string>> {
  const clients = bundle([known['client-ca-file'], clientAuthorityPem], nowMs)
  const proxies = bundle([known['requestheader-client-ca-file'], frontProxyAuthorityPem], nowMs)
  const lists = Object.entries(LISTS).map(([key, own]) => {
    const values = [...listOf(known[key]), ...(frontProxyAuthorityPem === undefined ? [] : [own])]
    return [key, JSON.stringify([...new Set(values)])]
  })
  return {
    ...(clients === '' ? {} : { 'client-ca-file': clients }),
    ...(proxies === ''
      ? {}
      : { 'requestheader-client-ca-file': proxies, ...Object.fromEntries(lists) }),
  }
}

function bundle(pems: readonly (string | undefined)[], nowMs: number): string {
  const certificates = pems
    .flatMap((pem = '') => readableAuthorities(pem))
    .filter(({ validToDate }) => validToDate.getTime() >= nowMs)
  return [...new Set(certificates.map(String))].join('')
}

function listOf(text = '[]'): readonly string[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.filter((entry) => typeof entry === 'string') : []
  } catch {
    return []
  }
}
