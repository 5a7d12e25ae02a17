/** What Secrets with tokens of accounts must have come to. Written from the page of serviceaccount-token-controller. */
import type { Secret, ServiceAccount } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { AUTHORITY_PEM } from '../../simulated/fixed-certificates.ts'
import type { Objects } from '../../simulated/objects.ts'

const OF = 'kubernetes.io/service-account'

/** Each is of an account that is there, says so, and has all that whoever uses it needs. */
export function* accountTokens(objects: Objects): Iterable<string> {
  for (const secret of objects.all(resources.secrets)) {
    if (secret.type !== 'kubernetes.io/service-account-token') continue
    const { namespace, name, annotations = {}, deletionTimestamp } = secret.metadata ?? {}
    if (deletionTimestamp !== undefined) continue
    const accountName = annotations[`${OF}.name`] ?? ''
    const account = objects.find(resources.serviceaccounts, namespace, accountName)
    const text = `Secret ${namespace}/${name}`
    if (account?.metadata?.uid === undefined || isOfFormer(secret, account))
      yield `${text} is of account ${accountName}, which is gone`
    else yield* missing(text, secret)
  }
}

function isOfFormer({ metadata }: Secret, account: ServiceAccount): boolean {
  const uid = metadata?.annotations?.[`${OF}.uid`] ?? ''
  return uid !== '' && uid !== account.metadata?.uid
}

function* missing(text: string, { data }: Secret): Iterable<string> {
  for (const key of ['token', 'namespace']) if (!data?.[key]) yield `${text} has no ${key}`
  if (data?.['ca.crt'] !== btoa(AUTHORITY_PEM)) yield `${text} has another authority`
}
