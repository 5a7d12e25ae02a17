import { X509Certificate } from 'node:crypto'
import { pemBlocks } from './pem-blocks.ts'

/**
 * Why a PEM text gives no authority to trust, in the words of client-go; undefined: it has one. With one that can be read the others are
 * not looked at.
 */
export function authoritiesProblem(pem: string): string | undefined {
  const blocks = pemBlocks(pem)
  if (blocks.length === 0) return prefixed('unable to parse bytes as PEM block')
  const certificates = blocks.filter(({ type }) => type === 'CERTIFICATE')
  if (certificates.some((block) => isReadable(block.pem))) return undefined
  return prefixed(
    certificates.length === 0
      ? 'no valid certificate authority data seen'
      : 'failed to parse certificate: x509: malformed certificate',
  )
}

function prefixed(problem: string): string {
  return `unable to load root certificates: ${problem}`
}

/** Those that can be read, as Go takes them from a bundle: one that is damaged stands in nobody's way. */
export function readableAuthorities(pem: string): X509Certificate[] {
  return pemBlocks(pem).flatMap(({ type, pem: block }) =>
    type === 'CERTIFICATE' ? (certificateOf(block) ?? []) : [],
  )
}

function isReadable(block: string): boolean {
  return certificateOf(block) !== undefined
}

function certificateOf(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block)
  } catch {
    return undefined
  }
}

/** Why a PEM text is no chain of certificates and nothing else, in Go's words; undefined: it is one. Text around blocks is passed over. */
export function certificatesProblem(pem: string): string | undefined {
  const blocks = pemBlocks(pem)
  for (const { type, pem: block } of blocks) {
    if (type !== 'CERTIFICATE')
      return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(type)}`
    if (HEADER.test(block)) return 'no PEM block headers are permitted'
    if (!isReadable(block)) return 'x509: malformed certificate'
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

const HEADER = /^[^\n:]+:/m

/** What a PEM text holds that may be trusted, in the words of Go's server. */
interface TrustAnchors {
  /** DER of each, in base64, in their order; complete without problems only. */
  readonly anchors: readonly string[]
  readonly problems: readonly string[]
}

/** Text around blocks is passed over. Every block must be the certificate of an authority, without headers. */
export function trustAnchors(pem: string): TrustAnchors {
  const anchors: string[] = []
  const problems: string[] = []
  for (const [index, { type, pem: block }] of pemBlocks(pem).entries()) {
    if (type !== 'CERTIFICATE') problems.push(`entry ${index} has bad block type: ${type}`)
    else if (HEADER.test(block)) problems.push(`entry ${index} has PEM block headers`)
    else {
      const certificate = certificateOf(block)
      if (certificate === undefined) problems.push(`entry ${index} does not parse as X.509`)
      else if (!certificate.ca) problems.push(`entry ${index} does not have the CA bit set`)
      else anchors.push(certificate.raw.toString('base64'))
    }
  }
  return { anchors, problems }
}
