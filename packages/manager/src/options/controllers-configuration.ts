/** Fills the controllers' configuration from flags. Pure. */
import { defaultControllersConfiguration } from '@gyropilot/controllers'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import type { RecyclerTemplates } from './recycler-templates.ts'
import { signingAuthorities } from '../identities/signing-authorities.ts'
import type { Options } from './options.ts'

export type HostFolders = NonNullable<
  ControllersConfiguration['persistentVolumeBinder']['hostFolders']
>

/** What the process finds around it: files that flags name, read, and where it runs. */
interface Surroundings {
  /** PEM bundle of --root-ca-file, else of the kubeconfig's cluster; empty where neither has one. */
  readonly rootCaPem: string
  /** --service-account-private-key-file; empty: none. */
  readonly serviceAccountPrivateKeyPem: string
  /** Reads files that may change while the process runs. Rejects with FileError. */
  readTextFile(path: string): Promise<string>
  /** IANA name. */
  readonly localTimeZone: string
  /** --pv-recycler-pod-template-filepath-* */
  readonly recyclerTemplates?: RecyclerTemplates
  /** Of this machine. Absent: none may be made or removed. */
  readonly hostFolders?: HostFolders | undefined
}

export function controllersConfiguration(
  options: Options,
  surroundings: Surroundings,
): ControllersConfiguration {
  return {
    ...defaultControllersConfiguration,
    ...keysConfiguration(options, surroundings),
    ...devicesConfiguration(options),
    ...endpointsConfiguration(options),
    featureGates: options.gateValues(),
    attachDetach: attachDetach(options),
    cronJob: {
      concurrentCronJobSyncs: options.number('concurrent-cron-job-syncs'),
      localTimeZone: surroundings.localTimeZone,
    },
    ephemeralVolume: { concurrentSyncs: options.number('concurrent-ephemeralvolume-syncs') },
    garbageCollector: {
      ...defaultControllersConfiguration.garbageCollector,
      enableGarbageCollector: options.flag('enable-garbage-collector'),
      concurrentGcSyncs: options.number('concurrent-gc-syncs'),
    },
    horizontalPodAutoscaler: autoscalerConfiguration(options),
    legacyTokenCleaner: {
      cleanUpPeriodMs: options.number('legacy-service-account-token-clean-up-period'),
    },
    job: { concurrentJobSyncs: options.number('concurrent-job-syncs') },
    namespace: {
      ...defaultControllersConfiguration.namespace,
      concurrentNamespaceSyncs: options.number('concurrent-namespace-syncs'),
      namespaceSyncPeriodMs: options.number('namespace-sync-period'),
    },
    daemonSet: {
      ...defaultControllersConfiguration.daemonSet,
      concurrentDaemonSetSyncs: options.number('concurrent-daemonset-syncs'),
    },
    deployment: {
      ...defaultControllersConfiguration.deployment,
      concurrentDeploymentSyncs: options.number('concurrent-deployment-syncs'),
    },
    nodeIpam: nodeIpam(options),
    nodeLifecycle: nodeLifecycle(options),
    persistentVolumeBinder: volumeBinderConfiguration(options, surroundings),
    podGarbageCollector: {
      ...defaultControllersConfiguration.podGarbageCollector,
      terminatedPodThreshold: options.number('terminated-pod-gc-threshold'),
    },
    replicaSet: {
      ...defaultControllersConfiguration.replicaSet,
      concurrentReplicaSetSyncs: options.number('concurrent-replicaset-syncs'),
    },
    resourceQuota: {
      concurrentResourceQuotaSyncs: options.number('concurrent-resource-quota-syncs'),
      resourceQuotaSyncPeriodMs: options.number('resource-quota-sync-period'),
    },
    statefulSet: {
      ...defaultControllersConfiguration.statefulSet,
      concurrentStatefulSetSyncs: options.number('concurrent-statefulset-syncs'),
    },
    replicationController: {
      ...defaultControllersConfiguration.replicationController,
      concurrentRcSyncs: options.number('concurrent-rc-syncs'),
    },
    ttlAfterFinished: { concurrentTtlSyncs: options.number('concurrent-ttl-after-finished-syncs') },
    validatingAdmissionPolicyStatus: policyStatusConfiguration(options),
  }
}

function policyStatusConfiguration(
  options: Options,
): ControllersConfiguration['validatingAdmissionPolicyStatus'] {
  return {
    concurrentPolicySyncs: options.number('concurrent-validating-admission-policy-status-syncs'),
  }
}

/** Of the three that tell who is behind a Service. */
function endpointsConfiguration(
  options: Options,
): Pick<ControllersConfiguration, 'endpoints' | 'endpointSlice' | 'endpointSliceMirroring'> {
  return {
    endpoints: {
      ...defaultControllersConfiguration.endpoints,
      concurrentEndpointSyncs: options.number('concurrent-endpoint-syncs'),
      endpointUpdatesBatchPeriodMs: options.number('endpoint-updates-batch-period'),
    },
    endpointSlice: {
      ...defaultControllersConfiguration.endpointSlice,
      concurrentServiceEndpointSyncs: options.number('concurrent-service-endpoint-syncs'),
      maxEndpointsPerSlice: options.number('max-endpoints-per-slice'),
      endpointUpdatesBatchPeriodMs: options.number('endpointslice-updates-batch-period'),
    },
    endpointSliceMirroring: {
      ...defaultControllersConfiguration.endpointSliceMirroring,
      concurrentServiceEndpointSyncs: options.number('mirroring-concurrent-service-endpoint-syncs'),
      maxEndpointsPerSubset: options.number('mirroring-max-endpoints-per-subset'),
      endpointUpdatesBatchPeriodMs: options.number('mirroring-endpointslice-updates-batch-period'),
    },
  }
}

function attachDetach(options: Options): ControllersConfiguration['attachDetach'] {
  return {
    disableReconcileSync: options.flag('disable-attach-detach-reconcile-sync'),
    reconcileSyncPeriodMs: options.number('attach-detach-reconcile-sync-period'),
    disableForceDetachOnTimeout: options.flag('disable-force-detach-on-timeout'),
  }
}

function volumeBinderConfiguration(
  options: Options,
  { recyclerTemplates, hostFolders }: Surroundings,
): ControllersConfiguration['persistentVolumeBinder'] {
  return {
    syncPeriodMs: options.number('pvclaimbinder-sync-period'),
    enableDynamicProvisioning: options.flag('enable-dynamic-provisioning'),
    enableHostPathProvisioner: options.flag('enable-hostpath-provisioner'),
    recyclers: {
      nfs: {
        minimumSeconds: options.number('pv-recycler-minimum-timeout-nfs'),
        secondsPerGibibyte: options.number('pv-recycler-increment-timeout-nfs'),
        ...(recyclerTemplates?.nfs && { podTemplate: recyclerTemplates.nfs }),
      },
      hostPath: {
        minimumSeconds: options.number('pv-recycler-minimum-timeout-hostpath'),
        secondsPerGibibyte: options.number('pv-recycler-timeout-increment-hostpath'),
        ...(recyclerTemplates?.hostPath && { podTemplate: recyclerTemplates.hostPath }),
      },
    },
    ...(hostFolders && { hostFolders }),
  }
}

function devicesConfiguration(
  options: Options,
): Pick<ControllersConfiguration, 'deviceTaintEviction' | 'resourceClaim'> {
  return {
    deviceTaintEviction: {
      concurrentSyncs: options.number('concurrent-device-taint-eviction-syncs'),
    },
    resourceClaim: { concurrentSyncs: options.number('concurrent-resourceclaim-syncs') },
  }
}

function autoscalerConfiguration(
  options: Options,
): ControllersConfiguration['horizontalPodAutoscaler'] {
  return {
    concurrentSyncs: options.number('concurrent-horizontal-pod-autoscaler-syncs'),
    syncPeriodMs: options.number('horizontal-pod-autoscaler-sync-period'),
    downscaleStabilizationMs: options.number('horizontal-pod-autoscaler-downscale-stabilization'),
    tolerance: options.number('horizontal-pod-autoscaler-tolerance'),
    cpuInitializationMs: options.number('horizontal-pod-autoscaler-cpu-initialization-period'),
    initialReadinessDelayMs: options.number('horizontal-pod-autoscaler-initial-readiness-delay'),
  }
}

/** Of controllers that hand out what keys and authorities are behind. */
function keysConfiguration(
  options: Options,
  { rootCaPem, serviceAccountPrivateKeyPem, readTextFile }: Surroundings,
): Pick<
  ControllersConfiguration,
  'certificateSigning' | 'rootCaPublisher' | 'serviceAccountToken'
> {
  return {
    certificateSigning: {
      durationMs: options.number('cluster-signing-duration'),
      authorities: signingAuthorities(options, readTextFile),
    },
    rootCaPublisher: { ...defaultControllersConfiguration.rootCaPublisher, caBundle: rootCaPem },
    serviceAccountToken: {
      privateKeyPem: serviceAccountPrivateKeyPem,
      rootCaPem,
      concurrentTokenSyncs: options.number('concurrent-serviceaccount-token-syncs'),
    },
  }
}

/** Of both managers. */
export function nodeIpam(options: Options): ControllersConfiguration['nodeIpam'] {
  return {
    allocateNodeCidrs: options.flag('allocate-node-cidrs'),
    clusterCidr: options.text('cluster-cidr'),
    serviceClusterIpRange: options.text('service-cluster-ip-range'),
    nodeCidrMaskSize: options.number('node-cidr-mask-size'),
    nodeCidrMaskSizeIpv4: options.number('node-cidr-mask-size-ipv4'),
    nodeCidrMaskSizeIpv6: options.number('node-cidr-mask-size-ipv6'),
  }
}

function nodeLifecycle(options: Options): ControllersConfiguration['nodeLifecycle'] {
  return {
    nodeMonitorPeriodMs: options.number('node-monitor-period'),
    nodeMonitorGracePeriodMs: options.number('node-monitor-grace-period'),
    nodeStartupGracePeriodMs: options.number('node-startup-grace-period'),
    nodeEvictionRate: options.number('node-eviction-rate'),
    secondaryNodeEvictionRate: options.number('secondary-node-eviction-rate'),
    unhealthyZoneThreshold: options.number('unhealthy-zone-threshold'),
    largeClusterSizeThreshold: options.number('large-cluster-size-threshold'),
  }
}
