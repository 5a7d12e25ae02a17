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

function isReadable(block: string): boolean {
  try {
    return new X509Certificate(block).raw.length > 0
  } catch {
    return false
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
