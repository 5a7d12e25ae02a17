/** Contract: docs/behaviour/runtime/manager.md, Flags: each has its effect, and no other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultControllersConfiguration } from '@gyropilot/controllers'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import { flagDefinitions } from '../flags/kube-controller-manager-flags.ts'
import { parseFlags } from '../flags/pflag.ts'
import { controllersConfiguration } from './controllers-configuration.ts'
import { Options } from './options.ts'

/** Texts, numbers and switches of the parts, by their place. What files hold, and the gates, are tested elsewhere. */
function leavesOf(configuration: ControllersConfiguration): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>()
  const walk = (value: unknown, path: string): void => {
    if (typeof value === 'object' && value !== null)
      for (const [key, part] of Object.entries(value))
        walk(part, path === '' ? key : `${path}.${key}`)
    else if (typeof value !== 'function') leaves.set(path, value)
  }
  const { featureGates: _, ...parts } = configuration
  walk(parts, '')
  return leaves
}

function leavesWith(...args: readonly string[]): ReadonlyMap<string, unknown> {
  const options = new Options(parseFlags(flagDefinitions, args))
  const surroundings = {
    rootCaPem: '',
    serviceAccountPrivateKeyPem: '',
    readTextFile: async () => '',
    localTimeZone: 'UTC',
  }
  return leavesOf(controllersConfiguration(options, surroundings))
}

const unset = leavesWith()

test('without flags controllers are set as the library sets them', () => {
  assert.deepEqual([...unset].toSorted(), [...leavesOf(defaultControllersConfiguration)].toSorted())
})

const EFFECTS: readonly (readonly [string, string, unknown])[] = [
  ['--allocate-node-cidrs=true', 'nodeIpam.allocateNodeCidrs', true],
  ['--cluster-cidr=7', 'nodeIpam.clusterCidr', '7'],
  ['--node-monitor-period=7s', 'nodeLifecycle.nodeMonitorPeriodMs', 7000],
  ['--attach-detach-reconcile-sync-period=7s', 'attachDetach.reconcileSyncPeriodMs', 7000],
  ['--disable-attach-detach-reconcile-sync=true', 'attachDetach.disableReconcileSync', true],
  ['--disable-force-detach-on-timeout=true', 'attachDetach.disableForceDetachOnTimeout', true],
  ['--cluster-signing-duration=7s', 'certificateSigning.durationMs', 7000],
  ['--concurrent-deployment-syncs=7', 'deployment.concurrentDeploymentSyncs', 7],
  ['--concurrent-statefulset-syncs=7', 'statefulSet.concurrentStatefulSetSyncs', 7],
  ['--concurrent-daemonset-syncs=7', 'daemonSet.concurrentDaemonSetSyncs', 7],
  ['--concurrent-device-taint-eviction-syncs=7', 'deviceTaintEviction.concurrentSyncs', 7],
  ['--concurrent-endpoint-syncs=7', 'endpoints.concurrentEndpointSyncs', 7],
  ['--endpoint-updates-batch-period=7s', 'endpoints.endpointUpdatesBatchPeriodMs', 7000],
  ['--concurrent-service-endpoint-syncs=7', 'endpointSlice.concurrentServiceEndpointSyncs', 7],
  ['--endpointslice-updates-batch-period=7s', 'endpointSlice.endpointUpdatesBatchPeriodMs', 7000],
  ['--max-endpoints-per-slice=7', 'endpointSlice.maxEndpointsPerSlice', 7],
  [
    '--mirroring-concurrent-service-endpoint-syncs=7',
    'endpointSliceMirroring.concurrentServiceEndpointSyncs',
    7,
  ],
  [
    '--mirroring-endpointslice-updates-batch-period=7s',
    'endpointSliceMirroring.endpointUpdatesBatchPeriodMs',
    7000,
  ],
  ['--mirroring-max-endpoints-per-subset=7', 'endpointSliceMirroring.maxEndpointsPerSubset', 7],
  ['--concurrent-ephemeralvolume-syncs=7', 'ephemeralVolume.concurrentSyncs', 7],
  ['--concurrent-gc-syncs=7', 'garbageCollector.concurrentGcSyncs', 7],
  ['--enable-garbage-collector=false', 'garbageCollector.enableGarbageCollector', false],
  ['--concurrent-horizontal-pod-autoscaler-syncs=7', 'horizontalPodAutoscaler.concurrentSyncs', 7],
  [
    '--horizontal-pod-autoscaler-cpu-initialization-period=7s',
    'horizontalPodAutoscaler.cpuInitializationMs',
    7000,
  ],
  [
    '--horizontal-pod-autoscaler-downscale-stabilization=7s',
    'horizontalPodAutoscaler.downscaleStabilizationMs',
    7000,
  ],
  [
    '--horizontal-pod-autoscaler-initial-readiness-delay=7s',
    'horizontalPodAutoscaler.initialReadinessDelayMs',
    7000,
  ],
  ['--horizontal-pod-autoscaler-sync-period=7s', 'horizontalPodAutoscaler.syncPeriodMs', 7000],
  ['--horizontal-pod-autoscaler-tolerance=7', 'horizontalPodAutoscaler.tolerance', 7],
  ['--concurrent-job-syncs=7', 'job.concurrentJobSyncs', 7],
  ['--concurrent-cron-job-syncs=7', 'cronJob.concurrentCronJobSyncs', 7],
  ['--legacy-service-account-token-clean-up-period=7s', 'legacyTokenCleaner.cleanUpPeriodMs', 7000],
  ['--concurrent-namespace-syncs=7', 'namespace.concurrentNamespaceSyncs', 7],
  ['--namespace-sync-period=7s', 'namespace.namespaceSyncPeriodMs', 7000],
  ['--node-cidr-mask-size=7', 'nodeIpam.nodeCidrMaskSize', 7],
  ['--node-cidr-mask-size-ipv4=7', 'nodeIpam.nodeCidrMaskSizeIpv4', 7],
  ['--node-cidr-mask-size-ipv6=7', 'nodeIpam.nodeCidrMaskSizeIpv6', 7],
  ['--service-cluster-ip-range=7', 'nodeIpam.serviceClusterIpRange', '7'],
  ['--large-cluster-size-threshold=7', 'nodeLifecycle.largeClusterSizeThreshold', 7],
  ['--node-eviction-rate=7', 'nodeLifecycle.nodeEvictionRate', 7],
  ['--node-monitor-grace-period=7s', 'nodeLifecycle.nodeMonitorGracePeriodMs', 7000],
  ['--node-startup-grace-period=7s', 'nodeLifecycle.nodeStartupGracePeriodMs', 7000],
  ['--secondary-node-eviction-rate=7', 'nodeLifecycle.secondaryNodeEvictionRate', 7],
  ['--unhealthy-zone-threshold=7', 'nodeLifecycle.unhealthyZoneThreshold', 7],
  [
    '--enable-dynamic-provisioning=false',
    'persistentVolumeBinder.enableDynamicProvisioning',
    false,
  ],
  ['--enable-hostpath-provisioner=true', 'persistentVolumeBinder.enableHostPathProvisioner', true],
  [
    '--pv-recycler-increment-timeout-nfs=7',
    'persistentVolumeBinder.recyclers.nfs.secondsPerGibibyte',
    7,
  ],
  [
    '--pv-recycler-minimum-timeout-hostpath=7',
    'persistentVolumeBinder.recyclers.hostPath.minimumSeconds',
    7,
  ],
  ['--pv-recycler-minimum-timeout-nfs=7', 'persistentVolumeBinder.recyclers.nfs.minimumSeconds', 7],
  [
    '--pv-recycler-timeout-increment-hostpath=7',
    'persistentVolumeBinder.recyclers.hostPath.secondsPerGibibyte',
    7,
  ],
  ['--pvclaimbinder-sync-period=7s', 'persistentVolumeBinder.syncPeriodMs', 7000],
  ['--terminated-pod-gc-threshold=7', 'podGarbageCollector.terminatedPodThreshold', 7],
  ['--concurrent-replicaset-syncs=7', 'replicaSet.concurrentReplicaSetSyncs', 7],
  ['--concurrent-rc-syncs=7', 'replicationController.concurrentRcSyncs', 7],
  ['--concurrent-resourceclaim-syncs=7', 'resourceClaim.concurrentSyncs', 7],
  ['--concurrent-resource-quota-syncs=7', 'resourceQuota.concurrentResourceQuotaSyncs', 7],
  ['--resource-quota-sync-period=7s', 'resourceQuota.resourceQuotaSyncPeriodMs', 7000],
  ['--concurrent-serviceaccount-token-syncs=7', 'serviceAccountToken.concurrentTokenSyncs', 7],
  ['--concurrent-ttl-after-finished-syncs=7', 'ttlAfterFinished.concurrentTtlSyncs', 7],
  [
    '--concurrent-validating-admission-policy-status-syncs=7',
    'validatingAdmissionPolicyStatus.concurrentPolicySyncs',
    7,
  ],
]
for (const [flag, path, value] of EFFECTS)
  test(`${flag} sets ${path} and nothing else`, () => {
    const changed = [...leavesWith(flag)].filter(([at, now]) => unset.get(at) !== now)
    assert.deepEqual(changed, [[path, value]])
  })
