/**
 * Fills a token Secret. Step numbers are those of docs/behaviour/controllers/serviceaccount-token-controller.md, Populate.
 */
import { resources } from '@gyropilot/api'
import type { Secret, ServiceAccount } from '@gyropilot/api'
import { isConflict, isNotFound } from '@gyropilot/client'
import { getLive, update, write } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import type { TokenSigner } from './legacy-token.ts'
import { ACCOUNT_NAME, ACCOUNT_UID } from '../account-token-support/token-secret.ts'

export interface PopulateSettings {
  /** Empty: `ca.crt` is left as it is. */
  readonly rootCaPem: string
  readonly sign: TokenSigner
}

interface Needs {
  readonly ca: boolean
  readonly namespace: boolean
  readonly token: boolean
}

export function* populate(
  cached: Secret,
  account: ServiceAccount,
  settings: PopulateSettings,
): Reconcile {
  // 1.
  if (!isAnyNeeded(needsOf(cached, settings))) return
  // 2. Of another version than the cache's there will be an event.
  const { namespace, name = '', resourceVersion } = cached.metadata ?? {}
  const live = yield* getLive(resources.secrets, namespace, name)
  if (!live.ok) return isNotFound(live.error) ? undefined : { error: live.error }
  if (live.object.metadata?.resourceVersion !== resourceVersion) return
  // 3.
  const needs = needsOf(live.object, settings)
  if (!isAnyNeeded(needs)) return
  // 4. to 6.
  const filled = filledIn(live.object, account, needs, settings)
  const written = yield* write(update(resources.secrets, filled))
  if (written.ok || isConflict(written.error) || isNotFound(written.error)) return
  return { error: written.error }
}

/** Values of the user's own stay, but for the CA. */
function needsOf({ data }: Secret, { rootCaPem }: PopulateSettings): Needs {
  return {
    ca: rootCaPem !== '' && data?.['ca.crt'] !== base64(rootCaPem),
    namespace: !data?.['namespace'],
    token: !data?.['token'],
  }
}

function isAnyNeeded(needs: Needs): boolean {
  return needs.ca || needs.namespace || needs.token
}

function filledIn(
  secret: Secret,
  account: ServiceAccount,
  needs: Needs,
  { rootCaPem, sign }: PopulateSettings,
): Secret {
  const { name = '', uid = '' } = account.metadata ?? {}
  const annotations = {
    ...secret.metadata?.annotations,
    [ACCOUNT_NAME]: name,
    [ACCOUNT_UID]: uid,
  }
  return {
    ...secret,
    metadata: { ...secret.metadata, annotations },
    data: {
      ...secret.data,
      ...(needs.ca && { 'ca.crt': base64(rootCaPem) }),
      ...(needs.namespace && { namespace: base64(secret.metadata?.namespace ?? '') }),
      ...(needs.token && { token: base64(sign(account, secret)) }),
    },
  }
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64')
}
