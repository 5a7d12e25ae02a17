/** The smallest valid objects, for tests. */
import type { Secret, ServiceAccount } from '@gyropilot/api'

export const CA_PEM = 'CA \n'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

export function account(given: { uid?: string; secrets?: readonly string[] } = {}): ServiceAccount {
  const { uid = 'account-uid', secrets } = given
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { namespace: 'ns', name: 'robot', uid, resourceVersion: '1' },
    ...(secrets && { secrets: secrets.map((name) => ({ name })) }),
  }
}

interface TokenSecretOptions {
  readonly name?: string
  readonly uid?: string
  readonly resourceVersion?: string
  /** Of the annotations; undefined: there is none. */
  readonly accountName?: string | undefined
  readonly accountUid?: string | undefined
  readonly type?: string
  /** In plain text. */
  readonly data?: Readonly<Record<string, string>>
}

/** Without data unless told otherwise. */
export function tokenSecret(given: TokenSecretOptions = {}): Secret {
  const { name = 'tok', uid = 'secret-uid', resourceVersion = '5', data } = given
  const accountName = 'accountName' in given ? given.accountName : 'robot'
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace: 'ns',
      name,
      uid,
      resourceVersion,
      annotations: {
        ...(accountName !== undefined && { 'kubernetes.io/service-account.name': accountName }),
        ...(given.accountUid !== undefined && {
          'kubernetes.io/service-account.uid': given.accountUid,
        }),
      },
    },
    type: given.type ?? 'kubernetes.io/service-account-token',
    ...(data && {
      data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
    }),
  }
}

export const COMPLETE = { token: 'ABC', 'ca.crt': CA_PEM, namespace: 'ns' }
