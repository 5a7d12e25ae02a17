/** The volume that is made for a claim. Contract: docs/behaviour/simulation/storage.md, Provisioner. Pure. */
import { requestedStorage, storageClassNameOf } from '@gyropilot/api'
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  TopologySelectorTerm,
} from '@gyropilot/api'
import { compareStrings } from '@gyropilot/foundation'
import { DRIVER, HOSTNAME, ZONE } from './driver-objects.ts'
import { ownValues, topologyKindOf } from './script.ts'
import type { Values } from './script.ts'

export const DELETION_FINALIZER = 'external-provisioner.volume.kubernetes.io/finalizer'
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by'

/** Where the volume may be; `undefined`: anywhere. Both a label of nodes and its value. */
interface Segment {
  readonly key: string
  readonly value: string
}

export function volumeNameOf({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata?.uid}`
}

export function provisionedVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  segment: Segment | undefined,
): PersistentVolume {
  const name = volumeNameOf(claim)
  const { namespace, name: claimName = '', uid = '', resourceVersion = '' } = claim.metadata ?? {}
  const { mountOptions } = storageClass
  const reclaimPolicy = storageClass.reclaimPolicy ?? 'Delete'
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name,
      annotations: { [PROVISIONED_BY]: DRIVER },
      ...(reclaimPolicy === 'Delete' ? { finalizers: [DELETION_FINALIZER] } : {}),
    },
    spec: {
      accessModes: claim.spec?.accessModes ?? [],
      capacity: { storage: String(requestedStorage(claim)) },
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        ...(namespace === undefined ? {} : { namespace }),
        name: claimName,
        uid,
        resourceVersion,
      },
      csi: {
        driver: DRIVER,
        volumeHandle: name,
        volumeAttributes: attributesOf(claim, storageClass),
      },
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClassNameOf(claim),
      ...(mountOptions === undefined ? {} : { mountOptions }),
      ...(claim.spec?.volumeMode === undefined ? {} : { volumeMode: claim.spec.volumeMode }),
      ...(claim.spec?.volumeAttributesClassName === undefined
        ? {}
        : { volumeAttributesClassName: claim.spec.volumeAttributesClassName }),
      ...(segment === undefined ? {} : { nodeAffinity: affinityTo(segment) }),
    },
  }
}

/** What is said on the claim goes before what its class says. */
export function attributesOf(claim: PersistentVolumeClaim, { parameters }: StorageClass): Values {
  return { ...ownValues(parameters), ...ownValues(claim.metadata?.annotations) }
}

function affinityTo({
  key,
  value,
}: Segment): NonNullable<PersistentVolume['spec']>['nodeAffinity'] {
  const matchExpressions = [{ key, operator: 'In', values: [value] }] as const
  return { required: { nodeSelectorTerms: [{ matchExpressions }] } }
}

/**
 * Where the volume is made: beside the node that was chosen for its pod, else in one of the places that the class allows,
 * claims of one set in turns. Undefined: there is no such thing as a place.
 */
export function segmentFor(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  selected: Node | undefined,
  nodes: readonly Node[],
): Segment | undefined {
  const kind = topologyKindOf(attributesOf(claim, storageClass))
  if (kind === 'anywhere') return undefined
  const key = kind === 'node' ? HOSTNAME : ZONE
  const own = selected?.metadata?.labels?.[key]
  if (own !== undefined) return { key, value: own }
  if (selected !== undefined) return undefined
  const values = nodes
    .filter((node) => isAllowed(node, storageClass.allowedTopologies))
    .flatMap(({ metadata }) => metadata?.labels?.[key] ?? [])
  const places = [...new Set(values)].toSorted(compareStrings)
  if (places.length === 0) return undefined
  const ordinal = Number(/\d{1,9}$/.exec(claim.metadata?.name ?? '')?.[0] ?? 0)
  return { key, value: places[ordinal % places.length]! }
}

function isAllowed(
  { metadata }: Node,
  terms: readonly TopologySelectorTerm[] | undefined,
): boolean {
  if (terms === undefined || terms.length === 0) return true
  return terms.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) =>
      values.includes(metadata?.labels?.[key] ?? ''),
    ),
  )
}
