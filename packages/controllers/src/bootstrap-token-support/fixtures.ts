/** The smallest valid objects, for tests. */
import type { Secret } from '@gyropilot/api'

/** Token `abc123.tokenSecret` that may sign and never ends, with these data values in plain text instead. */
export function tokenSecret(values: Readonly<Record<string, string>> = {}, id = 'abc123'): Secret {
  const plain = {
    'token-id': id,
    'token-secret': 'tokenSecret',
    'usage-bootstrap-signing': 'true',
    ...values,
  }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'kube-system', name: `bootstrap-token-${id}`, uid: `uid-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(
      Object.entries(plain).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
    ),
  }
}
