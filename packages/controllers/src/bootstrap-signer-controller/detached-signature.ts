/**
 * JSON web signatures (RFC 7515) without the text they sign, appendix F.
 * Contract: docs/behaviour/controllers/bootstrap-signer-controller.md, Sync.
 */
import { createHmac } from 'node:crypto'
import type { BootstrapToken } from '../bootstrap-token-support/bootstrap-token.ts'

/** `<protected header>..<signature>`, HS256. Clients compare the whole text, so the header's members have this order. */
export function detachedSignature(content: string, { id, secret }: BootstrapToken): string {
  const header = base64url(JSON.stringify({ alg: 'HS256', kid: id }))
  const signature = createHmac('sha256', secret)
    .update(`${header}.${base64url(content)}`)
    .digest('base64url')
  return `${header}..${signature}`
}

function base64url(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64url')
}
