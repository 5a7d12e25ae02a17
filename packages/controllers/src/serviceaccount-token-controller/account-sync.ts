/**
 * One sync of an account key: the Secrets of an account that is gone go too. Step numbers are those of
 * docs/behaviour/controllers/serviceaccount-token-controller.md, Account key.
 */
import { keyOf } from '@gyropilot/api'
import type { Secret, ServiceAccount } from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import type { Lister, Reconcile } from '@gyropilot/runtime'
import { deleteSecret } from './delete-secret.ts'
import { readAccountKey } from './keys.ts'
import { accountOf, isTokenSecret } from '../account-token-support/token-secret.ts'

export interface TokenListers {
  readonly accounts: Lister<ServiceAccount>
  readonly secrets: Lister<Secret>
}

/** Token Secrets of an account that the cache no longer has. */
export type OrphanedSecrets = readonly Secret[]

export function observeAccount(key: string, listers: TokenListers): OrphanedSecrets | undefined {
  // 1.
  const account = readAccountKey(key)
  if (account === undefined) return undefined
  // 2. The cache is trusted: an account that is only late in it has no Secrets yet that name its uid.
  const { namespace, name, uid } = account
  if (listers.accounts.get(namespace, name)?.metadata?.uid === uid) return undefined
  // 3.
  return listers.secrets
    .list(namespace)
    .filter((secret) => {
      const named = accountOf(secret)
      return isTokenSecret(secret) && named.name === name && (named.uid === '' || named.uid === uid)
    })
    .sort((a, b) => compareStrings(keyOf(a), keyOf(b)))
}

export function* reconcileAccount(secrets: OrphanedSecrets): Reconcile {
  let failure: unknown
  for (const secret of secrets) failure = (yield* deleteSecret(secret)) ?? failure
  return failure === undefined ? undefined : { error: failure }
}
