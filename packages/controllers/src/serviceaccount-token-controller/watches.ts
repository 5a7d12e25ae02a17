/** Contract: docs/behaviour/controllers/serviceaccount-token-controller.md, Watches and keys. */
import { resources } from '@gyropilot/api'
import type { Secret, ServiceAccount } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'
import { RESYNC_PERIOD_MS } from './config.ts'
import { accountKeyOf, secretKeyOf } from './keys.ts'
import { isTokenSecret } from '../account-token-support/token-secret.ts'

/** Of the queue of accounts. */
export const accountWatch: Watch<ServiceAccount> = {
  type: resources.serviceaccounts,
  resyncPeriodMs: RESYNC_PERIOD_MS,
  onAdd: (account) => [accountKeyOf(account)],
  // Another one may have taken the name: the former is gone, and nobody says so.
  onUpdate: (previous, account) => new Set([accountKeyOf(previous), accountKeyOf(account)]),
  onDelete: (account) =>
    account instanceof DeletedFinalStateUnknown ? [] : [accountKeyOf(account)],
}

/** Of the queue of Secrets. What is a token no longer is treated as gone; a tombstone does not say what it was. */
export const secretWatch: Watch<Secret> = {
  type: resources.secrets,
  resyncPeriodMs: RESYNC_PERIOD_MS,
  onAdd: tokenKeys,
  onUpdate: (previous, current) =>
    isTokenSecret(current) ? [secretKeyOf(current)] : tokenKeys(previous),
  onDelete: (secret) => (secret instanceof DeletedFinalStateUnknown ? [] : tokenKeys(secret)),
}

function tokenKeys(secret: Secret): readonly string[] {
  return isTokenSecret(secret) ? [secretKeyOf(secret)] : []
}
