/**
 * One sync of the ConfigMap `cluster-info`. Step numbers are those of
 * docs/behaviour/controllers/bootstrap-signer-controller.md; 1 is the shell's.
 */
import { deepEqual, resources } from '@gyropilot/api'
import type { ConfigMap, Secret } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import { currentTimeMs, update, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { tokenForSigning } from '../bootstrap-token-support/bootstrap-token.ts'
import { SIGNATURE_PREFIX, SIGNED_KEY } from './config.ts'
import { detachedSignature } from './detached-signature.ts'

export interface ObservedClusterInfo {
  readonly configMap: ConfigMap
  /** Bootstrap tokens of kube-system, by name. */
  readonly tokens: readonly Secret[]
}

/** `onFailure` hears of an update that was refused; the next event works on what the cache then has. */
export function* reconcile(
  { configMap, tokens }: ObservedClusterInfo,
  onFailure: (error: unknown) => void,
): Reconcile {
  // 2. Empty text is signed, missing text is not.
  const content = configMap.data?.[SIGNED_KEY]
  if (content === undefined) return
  // 3. to 5.
  const data = signedData(configMap.data ?? {}, content, tokens, yield* currentTimeMs())
  if (deepEqual(data, configMap.data)) return
  // 6.
  const outcome = yield* write(update(resources.configmaps, { ...configMap, data }))
  if (!outcome.ok && !isConflict(outcome.error) && !isNotFound(outcome.error)) {
    onFailure(outcome.error)
  }
}

/** Signatures of just the valid tokens, of two with one id the first; other keys as they are. */
function signedData(
  data: Readonly<Record<string, string>>,
  content: string,
  tokens: readonly Secret[],
  nowMs: number,
): Record<string, string> {
  const others = Object.entries(data).filter(([key]) => !key.startsWith(SIGNATURE_PREFIX))
  const signatures = new Map<string, string>()
  for (const secret of tokens) {
    const token = tokenForSigning(secret, nowMs)
    if (token === undefined || signatures.has(token.id)) continue
    signatures.set(token.id, detachedSignature(content, token))
  }
  const signed = [...signatures].map(([id, text]) => [SIGNATURE_PREFIX + id, text] as const)
  return Object.fromEntries([...others, ...signed])
}
