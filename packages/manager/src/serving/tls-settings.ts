/** The --tls-* flags in OpenSSL's words. Contract: docs/behaviour/runtime/manager.md, Flags. Pure. */

interface FlagValues {
  text(flag: string): string
  list(flag: string): readonly string[]
}

export interface TlsSettings {
  readonly minVersion: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'
  /** Colon-separated; absent: the runtime's. */
  readonly ciphers?: string
  readonly ecdhCurve?: string
}

const VERSIONS: Readonly<Record<string, TlsSettings['minVersion']>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
}

/** IANA's names; those of TLS 1.3 are always offered and are the same in both. */
const CIPHERS: Readonly<Record<string, string>> = {
  TLS_AES_128_GCM_SHA256: 'TLS_AES_128_GCM_SHA256',
  TLS_AES_256_GCM_SHA384: 'TLS_AES_256_GCM_SHA384',
  TLS_CHACHA20_POLY1305_SHA256: 'TLS_CHACHA20_POLY1305_SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_RC4_128_SHA: 'ECDHE-ECDSA-RC4-SHA',
  TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA: 'ECDHE-RSA-DES-CBC3-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_RC4_128_SHA: 'ECDHE-RSA-RC4-SHA',
  TLS_RSA_WITH_3DES_EDE_CBC_SHA: 'DES-CBC3-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  TLS_RSA_WITH_RC4_128_SHA: 'RC4-SHA',
}

/** By IANA's numbers. */
const CURVES: Readonly<Record<string, string>> = {
  23: 'P-256',
  24: 'P-384',
  25: 'P-521',
  29: 'X25519',
  4588: 'X25519MLKEM768',
}

/** The first thing that is wrong. `prefix` begins the flags of another port. */
export function tlsProblem(flags: FlagValues, prefix: '' | 'webhook-' = ''): string | undefined {
  const suite = flags.list(`${prefix}tls-cipher-suites`).find((name) => CIPHERS[name] === undefined)
  if (suite !== undefined) return `Cipher suite ${suite} not supported or doesn't exist`
  const curve = flags
    .list(`${prefix}tls-curve-preferences`)
    .find((number) => CURVES[number] === undefined)
  if (curve !== undefined)
    return `curve preference ${curve} is not supported by the current Go version`
  const version = flags.text(`${prefix}tls-min-version`)
  return version === '' || VERSIONS[version] !== undefined
    ? undefined
    : `unknown tls version ${JSON.stringify(version)}`
}

export function tlsSettings(flags: FlagValues, prefix: '' | 'webhook-' = ''): TlsSettings {
  const ciphers = flags.list(`${prefix}tls-cipher-suites`).map((suite) => CIPHERS[suite]!)
  const curves = flags.list(`${prefix}tls-curve-preferences`).map((curve) => CURVES[curve]!)
  return {
    minVersion: VERSIONS[flags.text(`${prefix}tls-min-version`)] ?? 'TLSv1.2',
    ...(ciphers.length === 0 ? {} : { ciphers: ciphers.join(':') }),
    ...(curves.length === 0 ? {} : { ecdhCurve: curves.join(':') }),
  }
}
