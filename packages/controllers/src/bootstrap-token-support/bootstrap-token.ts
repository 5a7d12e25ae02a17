/**
 * Bootstrap tokens as Secrets: what a machine that joins a cluster is told beforehand.
 * Contract: docs/behaviour/controllers/bootstrap-signer-controller.md and token-cleaner-controller.md.
 */
import { parseTime } from '@gyropilot/api'
import type { KubernetesObject, Secret } from '@gyropilot/api'

const TOKEN_SECRET_TYPE = 'bootstrap.kubernetes.io/token'
export const TOKEN_NAMESPACE = 'kube-system'
const NAME = /^bootstrap-token-([a-z0-9]{6})$/

/** Public id and secret half: `abcdef.0123456789abcdef` in writing. */
export interface BootstrapToken {
  readonly id: string
  /** Any bytes: they need not be text. */
  readonly secret: Uint8Array
}

export function isTokenSecret(object: KubernetesObject): boolean {
  const { metadata, type } = object as Secret
  return metadata?.namespace === TOKEN_NAMESPACE && type === TOKEN_SECRET_TYPE
}

/** A data value; empty where there is none. */
function bytesOf({ data }: Secret, key: string): Buffer {
  return Buffer.from(data?.[key] ?? '', 'base64')
}

function textOf(secret: Secret, key: string): string {
  return bytesOf(secret, key).toString('utf8')
}

/**
 * When the token ends, in milliseconds since the Unix epoch. Undefined: never. What is no time has always been over:
 * -Infinity.
 */
export function expirationMs(secret: Secret): number | undefined {
  const text = textOf(secret, 'expiration')
  return text === '' ? undefined : (parseTime(text) ?? -Infinity)
}

/** The token, where the Secret is well formed, has not expired and may be used to sign. */
export function tokenForSigning(secret: Secret, nowMs: number): BootstrapToken | undefined {
  const [, named] = NAME.exec(secret.metadata?.name ?? '') ?? []
  const token = { id: textOf(secret, 'token-id'), secret: bytesOf(secret, 'token-secret') }
  if (token.id !== named || token.secret.length === 0) return undefined
  if ((expirationMs(secret) ?? Infinity) <= nowMs) return undefined
  return textOf(secret, 'usage-bootstrap-signing') === 'true' ? token : undefined
}
