import { accountScenarios } from './access/accounts.ts'
import { customKindScenarios } from './administration/custom-kinds.ts'
import { autoscalingScenarios } from './workloads/autoscaling.ts'
import { bootstrapTokenScenarios } from './access/bootstrap-tokens.ts'
import { certificateScenarios } from './access/certificates.ts'
import { cloudScenarios } from './network/cloud.ts'
import { clusterRoleScenarios } from './access/cluster-roles.ts'
import { cronJobScenarios } from './workloads/cronjobs.ts'
import { daemonScenarios } from './workloads/daemons.ts'
import { deviceScenarios } from './nodes/devices.ts'
import { sharedClaimScenarios } from './nodes/shared-claims.ts'
import { diskScenarios } from './storage/disks.ts'
import { gangScenarios } from './workloads/gangs.ts'
import { jobScenarios } from './workloads/jobs.ts'
import { nodeLossScenarios } from './nodes/node-loss.ts'
import { nodeRangeScenarios } from './nodes/node-ranges.ts'
import { nodeTtlScenarios } from './nodes/node-ttl.ts'
import { placementScenarios } from './workloads/placement.ts'
import { policyScenarios } from './administration/policies.ts'
import { poolRequestScenarios } from './nodes/pool-requests.ts'
import { quotaScenarios } from './administration/quotas.ts'
import type { Scenario } from './scenario.ts'
import { selinuxScenarios } from './storage/selinux.ts'
import { serviceRangeScenarios } from './network/service-ranges.ts'
import { serviceScenarios } from './network/services.ts'
import { statefulSetScenarios } from './workloads/stateful-sets.ts'
import { storageVersionScenarios } from './administration/storage-versions.ts'
import { surroundingScenarios } from './administration/surroundings.ts'
import { trustBundleScenarios } from './access/trust-bundles.ts'
import { volumeScenarios } from './storage/volumes.ts'
import { workloadScenarios } from './workloads/workloads.ts'

export type { Scenario } from './scenario.ts'

/** What `explore` and `simulate --scenario` know by name. */
export const scenarios: readonly Scenario[] = [
  ...workloadScenarios,
  ...daemonScenarios,
  ...serviceScenarios,
  ...jobScenarios,
  ...gangScenarios,
  ...cronJobScenarios,
  ...autoscalingScenarios,
  ...surroundingScenarios,
  ...nodeLossScenarios,
  ...nodeRangeScenarios,
  ...placementScenarios,
  ...policyScenarios,
  ...statefulSetScenarios,
  ...volumeScenarios,
  ...diskScenarios,
  ...cloudScenarios,
  ...deviceScenarios,
  ...sharedClaimScenarios,
  ...serviceRangeScenarios,
  ...clusterRoleScenarios,
  ...accountScenarios,
  ...quotaScenarios,
  ...customKindScenarios,
  ...certificateScenarios,
  ...trustBundleScenarios,
  ...nodeTtlScenarios,
  ...storageVersionScenarios,
  ...poolRequestScenarios,
  ...selinuxScenarios,
  ...bootstrapTokenScenarios,
]
