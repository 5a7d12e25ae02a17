/**
 * Which namespaces an event concerns.
 * Contract: docs/behaviour/controllers/serviceaccount-controller.md, Watches and keys.
 */
import { keyOf, resources } from '@gyropilot/api'
import type { Namespace, ServiceAccount } from '@gyropilot/api'
import { DeletedFinalStateUnknown } from '@gyropilot/runtime'
import type { Watch } from '@gyropilot/runtime'

export const namespaceWatch: Watch<Namespace> = {
  type: resources.namespaces,
  onAdd: (namespace) => [keyOf(namespace)],
  onUpdate(previous, current) {
    const isResync = previous.metadata?.resourceVersion === current.metadata?.resourceVersion
    return isResync ? [] : [keyOf(current)]
  },
}

export const serviceAccountWatch: Watch<ServiceAccount> = {
  type: resources.serviceaccounts,
  onDelete(account) {
    const namespace =
      account instanceof DeletedFinalStateUnknown
        ? account.key.split('/')[0]
        : account.metadata?.namespace
    return namespace ? [namespace] : []
  },
}
