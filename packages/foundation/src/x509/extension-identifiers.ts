/** Object identifiers of the extensions of certificates and requests (RFC 5280, 4.2.1). */
export const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const

/** What a certificate may be good for (4.2.1.12). */
export const EXTENDED_KEY_USAGE = {
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
  any: '2.5.29.37.0',
} as const
