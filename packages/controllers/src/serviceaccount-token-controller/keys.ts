/**
 * What the two queues hold. A key remembers what its event said, so that a Secret whose annotations have changed since is
 * another key. Contract: docs/behaviour/controllers/serviceaccount-token-controller.md, Watches and keys.
 */
import type { Secret, ServiceAccount } from '@gyropilot/api'
import { accountOf } from '../account-token-support/token-secret.ts'

interface AccountKey {
  readonly namespace: string
  readonly name: string
  readonly uid: string
}

export interface SecretKey extends AccountKey {
  readonly accountName: string
  /** Empty: of any uid. */
  readonly accountUid: string
}

export function accountKeyOf({ metadata }: ServiceAccount): string {
  return JSON.stringify([metadata?.namespace ?? '', metadata?.name ?? '', metadata?.uid ?? ''])
}

export function secretKeyOf(secret: Secret): string {
  const { namespace = '', name = '', uid = '' } = secret.metadata ?? {}
  const account = accountOf(secret)
  return JSON.stringify([namespace, name, uid, account.name, account.uid])
}

/** Undefined for a key that names nothing. */
export function readAccountKey(key: string): AccountKey | undefined {
  const [namespace = '', name = '', uid = ''] = JSON.parse(key) as string[]
  return namespace && name && uid ? { namespace, name, uid } : undefined
}

/** Undefined for a key that names nothing, or no account. */
export function readSecretKey(key: string): SecretKey | undefined {
  const named = readAccountKey(key)
  const [, , , accountName = '', accountUid = ''] = JSON.parse(key) as string[]
  return named && accountName ? { ...named, accountName, accountUid } : undefined
}
