/**
 * One sync of a bootstrap token. Step numbers are those of docs/behaviour/controllers/token-cleaner-controller.md; 1 is the
 * shell's.
 */
import { resources } from '@gyropilot/api'
import type { Secret } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import { currentTimeMs, remove, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { expirationMs, isTokenSecret } from '../bootstrap-token-support/bootstrap-token.ts'

/** `onFailure` hears of a deletion that did not come about; nothing tries it again before the next event. */
export function* reconcile(secret: Secret, onFailure: (error: unknown) => void): Reconcile {
  // 2.
  if (!isTokenSecret(secret)) return
  // 3. and 4.
  const endMs = expirationMs(secret)
  if (endMs === undefined) return
  // 5.
  const remainingMs = endMs - (yield* currentTimeMs())
  if (remainingMs > 0) return { requeueAfterMs: remainingMs }
  // 6. The uid: a token made anew under the name has an end of its own.
  const uid = secret.metadata?.uid
  const outcome = yield* write(
    remove(resources.secrets, secret, uid ? { preconditions: { uid } } : undefined),
  )
  if (!outcome.ok && !isNotFound(outcome.error) && !isConflict(outcome.error)) {
    onFailure(outcome.error)
  }
}
