import type { ServiceAccount } from '@gyropilot/api'
import type { KindRules } from '../../registry/kind-rules.ts'
import { tableColumns } from '../columns.ts'

const ENFORCE = 'kubernetes.io/enforce-mountable-secrets'

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
  // Who changes something else, or turns it off, has heard of it.
  warnings: (object, stored) =>
    object.metadata?.annotations?.[ENFORCE] === undefined ||
    stored?.metadata?.annotations?.[ENFORCE] !== undefined
      ? []
      : [
          `metadata.annotations[${ENFORCE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
        ],
  columns: tableColumns('serviceaccounts', {}),
}
