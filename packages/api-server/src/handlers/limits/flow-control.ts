/**
 * Which flow schema a request counts under: shown in headers only, since one process serves in turn and nobody waits in
 * queues. Contract: docs/behaviour/api-server/requests.md, "Response (Accept)".
 */
import type { UserInfo } from '../../contracts.ts'
import type { Store } from '../../storage/store.ts'

export interface FlowControlUids {
  readonly flowSchema: string
  readonly priorityLevel: string
}

const SCHEMAS = 'flowschemas.flowcontrol.apiserver.k8s.io'
const LEVELS = 'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io'

/** Undefined while the objects are missing. */
export function flowControlUids(store: Store, user: UserInfo): FlowControlUids | undefined {
  const schema = store.get({ collection: SCHEMAS, key: schemaOf(user) })?.object
  if (schema === undefined) return undefined
  const level = store.get({
    collection: LEVELS,
    key: schema['spec']?.priorityLevelConfiguration?.name ?? '',
  })?.object
  if (level === undefined) return undefined
  return { flowSchema: schema['metadata'].uid, priorityLevel: level['metadata'].uid }
}

/** The built-in schemas by their subjects; those that also look at the resource are left to the general ones. */
function schemaOf({ name, groups }: UserInfo): string {
  if (groups.includes('system:masters')) return 'exempt'
  if (groups.includes('system:nodes')) return 'system-nodes'
  if (name === 'system:kube-controller-manager') return 'kube-controller-manager'
  if (name === 'system:kube-scheduler') return 'kube-scheduler'
  if (groups.includes('system:serviceaccounts:kube-system')) return 'kube-system-service-accounts'
  if (groups.includes('system:serviceaccounts')) return 'service-accounts'
  return 'global-default'
}
