import { resources } from '@gyropilot/api'
import type { Secret } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import { remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'

/** Deletes this very Secret. Gone, or another one under the name: done. Answers the error that is worth a retry. */
export function* deleteSecret(secret: Secret): Reconcile<unknown> {
  const outcome = yield* write(
    remove(resources.secrets, secret, { preconditions: { uid: secret.metadata?.uid } }),
  )
  if (outcome.ok || isNotFound(outcome.error) || isConflict(outcome.error)) return undefined
  return outcome.error
}
