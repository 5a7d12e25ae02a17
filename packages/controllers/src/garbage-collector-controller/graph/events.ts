/** Contract: docs/behaviour/controllers/garbage-collector-controller.md, Events. */
import type { EventRecord } from '@gyropilot/runtime'
import type { ForeignOwner } from './dependency-graph.ts'
import { identityOfReference, identityText } from './identity.ts'

export function foreignOwnerEvent({ dependent, reference }: ForeignOwner): EventRecord {
  const { apiVersion, kind, name, namespace, uid } = dependent
  const claimed = identityText(identityOfReference(reference, namespace))
  return {
    regarding: { apiVersion, kind, metadata: { name, ...(namespace && { namespace }), uid } },
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message: `ownerRef ${claimed} does not exist in namespace ${JSON.stringify(namespace)}`,
  }
}
