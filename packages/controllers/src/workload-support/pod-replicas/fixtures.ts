/** A kind of owners for tests. */
import { resources } from '@gyropilot/api'
import type { ReplicaSet } from '@gyropilot/api'
import type { ReplicaOwnerKind } from './replica-owner.ts'

export const REPLICA_SETS: ReplicaOwnerKind<ReplicaSet> = {
  type: resources.replicasets,
  selectorOf: ({ spec }) => spec?.selector,
}
