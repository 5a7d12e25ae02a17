/** Two cache reads: updates of namespaces come often. */
import type { Namespace, ServiceAccount } from '@gyropilot/api'
import type { Lister } from '@gyropilot/runtime'

export interface ObservedNamespace {
  readonly namespace: Namespace
  /** Names of ensured accounts that the cache does not have. */
  readonly missing: readonly string[]
}

interface NamespaceListers {
  readonly namespaces: Lister<Namespace>
  readonly serviceAccounts: Lister<ServiceAccount>
}

export function observe(
  name: string,
  listers: NamespaceListers,
  ensured: readonly string[],
): ObservedNamespace | undefined {
  const namespace = listers.namespaces.get(undefined, name)
  if (namespace === undefined) return undefined
  return {
    namespace,
    missing: ensured.filter((account) => listers.serviceAccounts.get(name, account) === undefined),
  }
}
