/**
 * Who works at what, and how fast. Contract: docs/behaviour/runtime/manager.md, Controllers; docs/behaviour/runtime/workqueue.md, Limiters and
 * retry limits, Names and metrics.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KeyedController } from '@gyropilot/runtime'
import { testContext } from '@gyropilot/runtime/testing'
import type { TestContext } from '@gyropilot/runtime/testing'
import type { ControllersConfiguration } from './configuration.ts'
import { defaultControllersConfiguration } from './configuration.ts'
import { bootstrapSignerLogic } from './bootstrap-signer-controller/index.ts'
import { certificateApprovingLogic } from './certificatesigningrequest-controllers/approving/index.ts'
import { clusterRoleAggregationLogic } from './clusterrole-aggregation-controller/index.ts'
import { cronJobLogic } from './cronjob-controller/index.ts'
import { stalePodLogic } from './disruption-controller/index.ts'
import { endpointsLogic } from './endpoints-controller/index.ts'
import { serviceLogic } from './endpointslice-controller/index.ts'
import { Topology } from './endpointslice-controller/topology.ts'
import { mirroringLogic } from './endpointslice-mirroring-controller/index.ts'
import { ephemeralVolumeLogic } from './ephemeral-volume-controller/index.ts'
import { horizontalPodAutoscalerLogic } from './horizontal-pod-autoscaler-controller/index.ts'
import { jobLogic } from './job-controller/index.ts'
import { orphanLogic } from './job-controller/index.ts'
import { nodeLogic } from './node-lifecycle-controller/node-logic.ts'
import { volumeExpanderLogic } from './persistentvolume-expander-controller/index.ts'
import { persistentVolumeProtectionLogic } from './persistentvolume-protection-controller/index.ts'
import { persistentVolumeClaimProtectionLogic } from './persistentvolumeclaim-protection-controller/index.ts'
import { podGroupProtectionLogic } from './podgroup-protection-controller/index.ts'
import { replicaSetLogic } from './replicaset-controller/index.ts'
import { replicationControllerLogic } from './replicationcontroller-controller/index.ts'
import { resourceClaimLogic } from './resourceclaim-controller/index.ts'
import { poolStatusRequestLogic } from './resourcepoolstatusrequest-controller/index.ts'
import { selinuxWarningLogic } from './selinux-warning-controller/index.ts'
import { serviceCidrLogic } from './service-cidr-controller/index.ts'
import { statefulSetLogic } from './statefulset-controller/index.ts'
import { tokenCleanerLogic } from './token-cleaner-controller/index.ts'
import { ttlAfterFinishedLogic } from './ttl-after-finished-controller/index.ts'
import { ttlLogic } from './ttl-controller/index.ts'
import { policyStatusLogic } from './validatingadmissionpolicy-status-controller/index.ts'
import { volumeAttributesClassProtectionLogic } from './volumeattributesclass-protection-controller/index.ts'

function endpointSliceLogic(context: TestContext<ControllersConfiguration>) {
  return serviceLogic(context, new Topology())
}

type Logic = (
  context: TestContext<ControllersConfiguration>,
) => Pick<
  KeyedController<never>,
  'queueName' | 'eventComponent' | 'workers' | 'maxRetries' | 'rateLimiter'
>

const logicOf = (build: Logic) =>
  build(testContext({ name: 'tested', configuration: defaultControllersConfiguration }))

/** Of each its queue, the component of its events, its workers, and how often a key is tried again. */
const QUEUES: readonly (readonly [
  Logic,
  string | undefined,
  string | undefined,
  number,
  number | undefined,
])[] = [
  [bootstrapSignerLogic, 'bootstrap_signer_queue', undefined, 1, undefined],
  [certificateApprovingLogic, 'certificate', undefined, 5, undefined],
  [clusterRoleAggregationLogic, 'ClusterRoleAggregator', undefined, 5, undefined],
  [cronJobLogic, 'cronjob', 'cronjob-controller', 5, undefined],
  [stalePodLogic, 'stale_pod_disruption', undefined, 1, undefined],
  [endpointsLogic, 'endpoint', 'endpoint-controller', 5, 15],
  [endpointSliceLogic, 'endpoint_slice', 'endpoint-slice-controller', 5, 15],
  [mirroringLogic, 'endpoint_slice_mirroring', 'endpoint-slice-mirroring-controller', 5, 15],
  [ephemeralVolumeLogic, 'ephemeral_volume', 'ephemeral_volume', 5, undefined],
  [
    horizontalPodAutoscalerLogic,
    'horizontalpodautoscaler',
    'horizontal-pod-autoscaler',
    5,
    undefined,
  ],
  [jobLogic, 'job', 'job-controller', 5, undefined],
  [orphanLogic, 'job_orphan_pod', 'job-controller', 5, undefined],
  [nodeLogic, 'node_lifecycle_controller', 'node-controller', 8, undefined],
  [volumeExpanderLogic, 'volume_expand', 'volume_expand', 10, undefined],
  [persistentVolumeProtectionLogic, 'pvprotection', undefined, 1, undefined],
  [persistentVolumeClaimProtectionLogic, 'pvcprotection', undefined, 1, undefined],
  [podGroupProtectionLogic, 'podgroupprotection', undefined, 1, undefined],
  [replicaSetLogic, 'replicaset', 'replicaset-controller', 5, undefined],
  [replicationControllerLogic, 'replicationmanager', 'replication-controller', 5, undefined],
  [resourceClaimLogic, 'resource_claim', 'resource_claim', 50, undefined],
  [poolStatusRequestLogic, undefined, undefined, 1, 5],
  [selinuxWarningLogic, 'selinux_warning', 'selinux_warning', 1, undefined],
  [serviceCidrLogic, 'ipaddresses', 'service-cidr-controller', 5, 15],
  [statefulSetLogic, 'statefulset', 'statefulset-controller', 5, undefined],
  [tokenCleanerLogic, 'token_cleaner', undefined, 1, undefined],
  [ttlAfterFinishedLogic, 'ttl_jobs_to_delete', undefined, 5, undefined],
  [ttlLogic, 'ttlcontroller', undefined, 5, undefined],
  [policyStatusLogic, 'validatingadmissionpolicy-status', undefined, 5, undefined],
  [volumeAttributesClassProtectionLogic, 'vacprotection', undefined, 1, undefined],
]
for (const [build, queueName, eventComponent, workers, maxRetries] of QUEUES)
  test(`${build.name}: its queue, events, workers and retries`, () => {
    const logic = logicOf(build)
    assert.deepEqual(
      [logic.queueName, logic.eventComponent, logic.workers, logic.maxRetries],
      [queueName, eventComponent, workers, maxRetries],
    )
  })

/** The first two waits of a key, and the longest. */
const WAITS: readonly (readonly [Logic, readonly number[]])[] = [
  [certificateApprovingLogic, [200, 400, 1000000]],
  [endpointSliceLogic, [1000, 2000, 1000000]],
  [mirroringLogic, [1000, 2000, 100000]],
  [horizontalPodAutoscalerLogic, [15000, 15000, 15000]],
  [jobLogic, [1000, 2000, 60000]],
  [orphanLogic, [1000, 2000, 60000]],
]
for (const [build, expected] of WAITS)
  test(`${build.name}: its waits after errors`, () => {
    const limiter = logicOf(build).rateLimiter!
    const waitsMs = Array.from({ length: 32 }, () => limiter.whenMs('key'))
    assert.deepEqual([...waitsMs.slice(0, 2), waitsMs.at(-1)], expected)
  })

test('all others have the default limiter', () => {
  const limited = WAITS.map(([build]) => build)
  for (const [build] of QUEUES)
    assert.equal(logicOf(build).rateLimiter !== undefined, limited.includes(build), build.name)
})
