/** The IPAddress that stands for a taken address. */
import { formatTime } from '@gyropilot/foundation'
import type { Stored } from '@gyropilot/schema/objects'
import { familyOf } from './ip-families.ts'

export interface Owner {
  readonly namespace: string
  readonly name: string
}

const FAMILY_LABEL = 'ipaddress.kubernetes.io/ip-family'
const MANAGER_LABEL = 'ipaddress.kubernetes.io/managed-by'
const MANAGER = 'ipallocator.k8s.io'
const OWNED = {
  'f:metadata': {
    'f:labels': { '.': {}, [`f:${FAMILY_LABEL}`]: {}, [`f:${MANAGER_LABEL}`]: {} },
  },
  'f:spec': { 'f:parentRef': { '.': {}, 'f:name': {}, 'f:namespace': {}, 'f:resource': {} } },
}

export function ipAddressObject(name: string, owner: Owner, nowMs: number, uid: string): Stored {
  const time = formatTime(nowMs)
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: {
      name,
      uid,
      creationTimestamp: time,
      labels: { [FAMILY_LABEL]: familyOf(name), [MANAGER_LABEL]: MANAGER },
      managedFields: [
        {
          manager: 'kube-apiserver',
          operation: 'Update',
          apiVersion: 'networking.k8s.io/v1',
          time,
          fieldsType: 'FieldsV1',
          fieldsV1: OWNED,
        },
      ],
    },
    spec: { parentRef: { resource: 'services', namespace: owner.namespace, name: owner.name } },
  }
}

/** Whether the allocator answers for it. */
export function isManaged({ metadata }: Stored): boolean {
  return metadata.labels?.[MANAGER_LABEL] === MANAGER
}

export function hasAllocatorLabels(address: Stored): boolean {
  const { name, labels } = address['metadata']
  return isManaged(address) && labels[FAMILY_LABEL] === familyOf(name)
}
