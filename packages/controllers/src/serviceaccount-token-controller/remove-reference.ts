/**
 * Takes the name of a Secret that is gone off its account.
 * Contract: docs/behaviour/controllers/serviceaccount-token-controller.md, Secret key, step 3.
 */
import { resources } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import { getLive, update, wait, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'
import { REFERENCE_REMOVAL_TRIES } from './config.ts'
import type { SecretKey } from './keys.ts'

export interface RemoveReferenceSettings {
  /** How long to pause before the next try. */
  pauseMs(): number
  /** The last try failed; nobody tries again. */
  onReferenceLeft(key: SecretKey, error: unknown): void
}

const DONE = { ok: true, object: {} } as const

export function* removeReference(key: SecretKey, settings: RemoveReferenceSettings): Reconcile {
  for (let left = REFERENCE_REMOVAL_TRIES; ;) {
    const outcome = yield* tryToRemove(key)
    if (outcome.ok) return
    left -= 1
    if (!isConflict(outcome.error) || left === 0)
      return settings.onReferenceLeft(key, outcome.error)
    yield* wait(settings.pauseMs())
  }
}

/** On the live account, because it is decided by what it says now. */
function* tryToRemove(key: SecretKey): Reconcile<Outcome> {
  const live = yield* getLive(resources.serviceaccounts, key.namespace, key.accountName)
  if (!live.ok) return isNotFound(live.error) ? DONE : live
  const account = live.object
  if (key.accountUid !== '' && account.metadata?.uid !== key.accountUid) return DONE
  const secrets = (account.secrets ?? []).filter(({ name }) => name !== key.name)
  if (secrets.length === (account.secrets ?? []).length) return DONE
  const written = yield* write(update(resources.serviceaccounts, { ...account, secrets }))
  return !written.ok && isNotFound(written.error) ? DONE : written
}
