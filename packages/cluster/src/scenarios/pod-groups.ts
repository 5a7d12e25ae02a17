/** PodGroups, which are behind an alpha gate, as custom resources. */
import { gatedKind } from './gated-kinds.ts'
import type { InstalledKind } from './gated-kinds.ts'

/** With what is needed for claims that a PodGroup shares with its pods. */
export const podGroups: InstalledKind = gatedKind({
  group: 'scheduling.k8s.io',
  version: 'v1alpha2',
  kind: 'PodGroup',
  namespaced: true,
  account: 'resource-claim-controller',
  verbs: ['get', 'list', 'watch', 'patch', 'update'],
})

export const SHARED_CLAIM_GATES = {
  GenericWorkload: true,
  DRAWorkloadResourceClaims: true,
} as const
