import type { ServiceAccount } from '@gyropilot/api'
import type { KindRules } from '../../registry/kind-rules.ts'
import { tableColumns } from '../columns.ts'

function reduceSecrets(object: { secrets?: { name?: string }[] }): void {
  if (object.secrets)
    object.secrets = object.secrets.map(({ name }) => (name === undefined ? {} : { name }))
}

export const serviceAccount: KindRules<ServiceAccount> = {
  group: '',
  kind: 'ServiceAccount',
  generationOf: null,
  prepareForCreate: reduceSecrets,
  prepareForUpdate: reduceSecrets,
  warnings(object) {
    return object.metadata?.annotations?.['kubernetes.io/enforce-mountable-secrets'] === undefined
      ? []
      : [
          'metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets',
        ]
  },
  columns: tableColumns('serviceaccounts', {}),
}
