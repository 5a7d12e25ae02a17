/** Usages as texts, and what they are in a certificate. Contract: docs/behaviour/controllers/certificatesigningrequest-controllers.md, Certificate. */
/** Bit numbers of RFC 5280, 4.2.1.3. */
const KEY_USAGES: ReadonlyMap<string, number> = new Map([
  ['signing', 0],
  ['digital signature', 0],
  ['content commitment', 1],
  ['key encipherment', 2],
  ['data encipherment', 3],
  ['key agreement', 4],
  ['cert sign', 5],
  ['crl sign', 6],
  ['encipher only', 7],
  ['decipher only', 8],
])

/** In the order in which a certificate lists them. */
const EXTENDED_KEY_USAGES: readonly (readonly [oid: string, ...names: string[]])[] = [
  ['2.5.29.37.0', 'any'],
  ['1.3.6.1.5.5.7.3.1', 'server auth'],
  ['1.3.6.1.5.5.7.3.2', 'client auth'],
  ['1.3.6.1.5.5.7.3.3', 'code signing'],
  ['1.3.6.1.5.5.7.3.4', 'email protection', 's/mime'],
  ['1.3.6.1.5.5.7.3.5', 'ipsec end system'],
  ['1.3.6.1.5.5.7.3.6', 'ipsec tunnel'],
  ['1.3.6.1.5.5.7.3.7', 'ipsec user'],
  ['1.3.6.1.5.5.7.3.8', 'timestamping'],
  ['1.3.6.1.5.5.7.3.9', 'ocsp signing'],
  ['1.3.6.1.4.1.311.10.3.3', 'microsoft sgc'],
  ['2.16.840.1.113730.4.1', 'netscape sgc'],
]

interface CertificateUsages {
  readonly keyUsageBits: readonly number[]
  /** Object identifiers. */
  readonly extendedKeyUsages: readonly string[]
}

/** Throws for a text that is no usage. */
export function certificateUsages(usages: readonly string[]): CertificateUsages {
  const unknown = usages.filter((usage) => !KEY_USAGES.has(usage) && !isExtended(usage))
  if (unknown.length > 0)
    throw new Error(
      `unrecognized usage values: [${unknown.map((usage) => JSON.stringify(usage)).join(' ')}]`,
    )
  const bits = usages.flatMap((usage) => KEY_USAGES.get(usage) ?? [])
  return {
    keyUsageBits: [...new Set(bits)].toSorted((a, b) => a - b),
    extendedKeyUsages: EXTENDED_KEY_USAGES.filter(([, ...names]) =>
      names.some((name) => usages.includes(name)),
    ).map(([oid]) => oid),
  }
}

function isExtended(usage: string): boolean {
  return EXTENDED_KEY_USAGES.some(([, ...names]) => names.includes(usage))
}
