/**
 * One sync of a Secret key. Step numbers are those of docs/behaviour/controllers/serviceaccount-token-controller.md,
 * Secret key.
 */
import { resources } from '@gyropilot/api'
import type { Secret, ServiceAccount } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { getLive } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { TokenListers } from './account-sync.ts'
import { deleteSecret } from './delete-secret.ts'
import { readSecretKey } from './keys.ts'
import type { SecretKey } from './keys.ts'
import { populate } from './populate.ts'
import type { PopulateSettings } from './populate.ts'
import { removeReference } from './remove-reference.ts'
import type { RemoveReferenceSettings } from './remove-reference.ts'

export interface ObservedSecret {
  readonly key: SecretKey
  /** With the key's uid. */
  readonly secret?: Secret
  /** With the uid that the Secret asks for, if it asks for one. */
  readonly account?: ServiceAccount
}

export type SecretSyncSettings = PopulateSettings & RemoveReferenceSettings

export function observeSecret(text: string, listers: TokenListers): ObservedSecret | undefined {
  // 1. and 2.
  const key = readSecretKey(text)
  if (key === undefined) return undefined
  const secret = listers.secrets.get(key.namespace, key.name)
  const account = listers.accounts.get(key.namespace, key.accountName)
  return {
    key,
    ...(secret?.metadata?.uid === key.uid && { secret }),
    ...(account !== undefined && isMeant(account, key) && { account }),
  }
}

export function* reconcileSecret(
  { key, secret, account }: ObservedSecret,
  settings: SecretSyncSettings,
): Reconcile {
  // 3.
  if (secret === undefined) {
    if (account !== undefined) yield* removeReference(key, settings)
    return
  }
  // 4. Nothing is deleted on the word of the cache.
  const found = account ?? (yield* liveAccount(key))
  if (found instanceof LookUpFailed) return { error: found.cause }
  if (found !== undefined) return yield* populate(secret, found, settings)
  const failure = yield* deleteSecret(secret)
  return failure === undefined ? undefined : { error: failure }
}

class LookUpFailed extends Error {}

function* liveAccount(key: SecretKey): Reconcile<ServiceAccount | LookUpFailed | undefined> {
  const live = yield* getLive(resources.serviceaccounts, key.namespace, key.accountName)
  if (live.ok) return isMeant(live.object, key) ? live.object : undefined
  return isNotFound(live.error) ? undefined : new LookUpFailed('', { cause: live.error })
}

function isMeant({ metadata }: ServiceAccount, { accountUid }: SecretKey): boolean {
  return accountUid === '' || metadata?.uid === accountUid
}
