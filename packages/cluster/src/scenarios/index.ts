import { accountScenarios } from './accounts.ts'
import { autoscalingScenarios } from './autoscaling.ts'
import { bootstrapTokenScenarios } from './bootstrap-tokens.ts'
import { certificateScenarios } from './certificates.ts'
import { cloudScenarios } from './cloud.ts'
import { clusterRoleScenarios } from './cluster-roles.ts'
import { cronJobScenarios } from './cronjobs.ts'
import { daemonScenarios } from './daemons.ts'
import { deviceScenarios } from './devices.ts'
import { diskScenarios } from './disks.ts'
import { gangScenarios } from './gangs.ts'
import { jobScenarios } from './jobs.ts'
import { nodeLossScenarios } from './node-loss.ts'
import { nodeRangeScenarios } from './node-ranges.ts'
import { nodeTtlScenarios } from './node-ttl.ts'
import { placementScenarios } from './placement.ts'
import { policyScenarios } from './policies.ts'
import { poolRequestScenarios } from './pool-requests.ts'
import { quotaScenarios } from './quotas.ts'
import type { Scenario } from './scenario.ts'
import { selinuxScenarios } from './selinux.ts'
import { serviceRangeScenarios } from './service-ranges.ts'
import { serviceScenarios } from './services.ts'
import { statefulSetScenarios } from './stateful-sets.ts'
import { storageVersionScenarios } from './storage-versions.ts'
import { surroundingScenarios } from './surroundings.ts'
import { trustBundleScenarios } from './trust-bundles.ts'
import { volumeScenarios } from './volumes.ts'
import { workloadScenarios } from './workloads.ts'

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
  ...serviceRangeScenarios,
  ...clusterRoleScenarios,
  ...accountScenarios,
  ...quotaScenarios,
  ...certificateScenarios,
  ...trustBundleScenarios,
  ...nodeTtlScenarios,
  ...storageVersionScenarios,
  ...poolRequestScenarios,
  ...selinuxScenarios,
  ...bootstrapTokenScenarios,
]
