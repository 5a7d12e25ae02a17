/**
 * Secrets that carry the token of a ServiceAccount.
 * Contract: docs/behaviour/controllers/serviceaccount-token-controller.md and
 * legacy-serviceaccount-token-cleaner-controller.md.
 */
import type { KubernetesObject, Secret } from '@gyropilot/api'

const TOKEN_SECRET_TYPE = 'kubernetes.io/service-account-token'
export const ACCOUNT_NAME = 'kubernetes.io/service-account.name'
export const ACCOUNT_UID = 'kubernetes.io/service-account.uid'

export function isTokenSecret(object: KubernetesObject): boolean {
  return (object as Secret).type === TOKEN_SECRET_TYPE
}

/** The account that a Secret says it is for; empty where it does not say. */
export function accountOf({ metadata }: Secret): { readonly name: string; readonly uid: string } {
  const { [ACCOUNT_NAME]: name = '', [ACCOUNT_UID]: uid = '' } = metadata?.annotations ?? {}
  return { name, uid }
}
