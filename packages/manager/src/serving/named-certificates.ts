/** --tls-sni-cert-key: which certificate a client is shown, by the name it asks for. Contract: docs/behaviour/runtime/manager.md, Serving. Pure. */
import { X509Certificate } from 'node:crypto'

/** One use of the flag. */
interface CertificateFiles {
  readonly certFile: string
  readonly keyFile: string
  /** Empty: those of the certificate. */
  readonly names: readonly string[]
}

/** `cert,key` or `cert,key:name,name`, blanks allowed around each. */
export function parseCertificateFiles(text: string): CertificateFiles {
  const colon = text.indexOf(':')
  const files = colon < 0 ? text : text.slice(0, colon)
  const [certFile = '', keyFile = ''] = files.split(',').map((file) => file.trim())
  const names = colon < 0 ? [] : text.slice(colon + 1).split(',')
  return { certFile, keyFile, names: names.map((name) => name.trim()) }
}

/** The names that a certificate is for: its common name, where that could be one, and its DNS names. */
export function namesOf(certificatePem: string): readonly string[] {
  const { subject, subjectAltName } = new X509Certificate(certificatePem)
  const commonName = /^CN=(.*)$/m.exec(subject ?? '')?.[1] ?? ''
  const dnsNames = (subjectAltName ?? '')
    .split(', ')
    .flatMap((name) => (name.startsWith('DNS:') ? [name.slice('DNS:'.length)] : []))
  return [...(isDnsName(commonName) ? [commonName] : []), ...dnsNames]
}

/** Names of the flag go before those of certificates, and of two equal ones the first counts. */
export function byName<T>(
  choices: readonly {
    readonly names: readonly string[]
    readonly certificatePem: string
    readonly choice: T
  }[],
): ReadonlyMap<string, T> {
  const named = new Map<string, T>()
  const add = (names: readonly string[], choice: T): void => {
    for (const name of names) {
      const known = name.toLowerCase()
      if (!named.has(known)) named.set(known, choice)
    }
  }
  for (const { names, choice } of choices) add(names, choice)
  for (const { names, certificatePem, choice } of choices)
    if (names.length === 0) add(namesOf(certificatePem), choice)
  return named
}

/** The name itself, else the nearest pattern: `*.b.c`, `*.*.c`, ... for `a.b.c`. */
export function chosen<T>(named: ReadonlyMap<string, T>, serverName: string): T | undefined {
  const labels = serverName.toLowerCase().replace(/\.$/, '').split('.')
  const exact = named.get(labels.join('.'))
  if (exact !== undefined) return exact
  for (let i = 0; i < labels.length; i++) {
    labels[i] = '*'
    const pattern = named.get(labels.join('.'))
    if (pattern !== undefined) return pattern
  }
  return undefined
}

function isDnsName(text: string): boolean {
  return /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/i.test(text)
}
