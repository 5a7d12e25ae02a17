/**
 * The feature gates of the versions that can be emulated, as kube-controller-manager 1.36.2 tells of them with --emulated-version: its metric
 * `kubernetes_feature_enabled` lists them, and locked are those of which it refuses the other value.
 */
import { byString } from '@gyropilot/foundation'
import { featureGates } from './feature-gate-table.ts'
import type { FeatureGate } from './feature-gate-table.ts'
import { NEWEST_MINOR } from './go-version.ts'

type Change = readonly [gate: FeatureGate | undefined, names: string]

/** What was otherwise in the version before the one above; undefined: it was not there yet. */
const BEFORE: readonly (readonly Change[])[] = [
  // 1.35
  [
    [
      { default: false, stage: 'ALPHA' },
      `
      ComponentFlagz ComponentStatusz ConstrainedImpersonation CustomCPUCFSQuotaPeriod DRAConsumableCapacity
      DRADeviceBindingConditions DRADeviceTaintRules DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
      InPlacePodLevelResourcesVerticalScaling MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
      NodeDeclaredFeatures RelaxedServiceNameValidation ResourceHealthStatus RestartAllContainersOnContainerExits
      StrictIPCIDRValidation UnknownVersionInteroperabilityProxy`,
    ],
    [
      { default: false, stage: 'BETA' },
      `
      CRDObservedGenerationTracking DeclarativeValidationTakeover MutatingAdmissionPolicy WatchCacheInitializationPostStartHook`,
    ],
    [
      { default: true, stage: 'BETA' },
      `
      CSIServiceAccountTokenSecrets DRAAdminAccess DRAPrioritizedList DeclarativeValidation DisableCPUQuotaWithExclusiveCPUs
      ExternalServiceAccountTokenSigner ImageVolume InOrderInformers KubeletFineGrainedAuthz KubeletPSI
      KubeletPodResourcesDynamicResources KubeletPodResourcesGet MutableCSINodeAllocatableCount NodeLogQuery ProcMountType
      SELinuxChangePolicy SELinuxMountReadWriteOncePod UserNamespacesSupport`,
    ],
    [
      { default: false, stage: 'DEPRECATED' },
      `
      GitRepoVolumeDriver SeparateCacheWatchRPC`,
    ],
    [
      { default: true, stage: 'DEPRECATED' },
      `
      DisableNodeKubeProxyVersion`,
    ],
    [
      { default: false, stage: 'GA' },
      `
      ServiceCIDRStatusFieldWiping`,
    ],
    [
      { default: true, stage: 'GA' },
      `
      VolumeAttributesClass`,
    ],
    [
      undefined,
      `
      AtomicFIFO CRIListStreaming ClientsAllowCARotation ClientsAllowTLSCacheGC ControllerManagerReleaseLeaderElectionLockOnExit
      DRAListTypeAttributes DRANodeAllocatableResources DRAResourceClaimGranularStatusAuthorization DRAResourcePoolStatus
      DRAWorkloadResourceClaims DeclarativeValidationBeta ExtendWebSocketsToKubelet InPlacePodVerticalScalingInitContainers
      ManifestBasedAdmissionControlConfig NativeHistograms PLEGOnDemandRelist PersistentVolumeClaimUnusedSinceTime
      PodLevelResourceManagers PodsAPI ReloadKubeletClientCAFile ResourceHealthStatusMessage ShardedListAndWatch
      StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
      StaleControllerConsistencyStatefulSet TopologyAwareWorkloadScheduling UnlockWhileProcessingFIFO WorkloadAwarePreemption
      WorkloadWithJob`,
    ],
  ],
  // 1.34
  [
    [
      { default: false, stage: 'ALPHA' },
      `
      ClearingNominatedNodeNameAfterBinding ContainerRestartRules DeploymentReplicaSetTerminatingReplicas EnvFiles
      HPAConfigurableTolerance HostnameOverride InformerResourceVersion KubeletCrashLoopBackOffMax
      KubeletEnsureSecretPulledImages MaxUnavailableStatefulSet NominatedNodeNameForExpectation PodCertificateRequest
      PodTopologyLabelsAdmission StorageVersionMigrator`,
    ],
    [
      { default: false, stage: 'BETA' },
      `
      ImageVolume MutableCSINodeAllocatableCount WatchListClient`,
    ],
    [
      { default: true, stage: 'BETA' },
      `
      ImageMaximumGCAge InPlacePodVerticalScaling JobManagedBy PodObservedGenerationTracking PreferSameTrafficDistribution
      SupplementalGroupsPolicy SystemdWatchdog`,
    ],
    [
      { default: false, stage: 'DEPRECATED' },
      `
      AllowOverwriteTerminationGracePeriodSeconds`,
    ],
    [
      { default: true, stage: 'DEPRECATED' },
      `
      AggregatedDiscoveryRemoveBetaType`,
    ],
    [
      { default: true, stage: 'GA' },
      `
      ChangeContainerStatusOnKubeletRestart DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout`,
    ],
    [
      undefined,
      `
      AuthorizePodWebsocketUpgradeCreatePermission CRDObservedGenerationTracking CSIServiceAccountTokenSecrets
      CloudControllerManagerWatchBasedRoutesReconciliation ConstrainedImpersonation DRADeviceTaintRules GangScheduling
      GenericWorkload ImageVolumeWithDigest InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling
      MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures
      OpportunisticBatching RestartAllContainersOnContainerExits StructuredAuthenticationConfigurationJWKSMetrics
      TaintTolerationComparisonOperators UserNamespacesHostNetworkSupport VolumeLimitScaling`,
    ],
  ],
  // 1.33
  [
    [
      { default: false, stage: 'ALPHA' },
      `
      DRAAdminAccess DRAPrioritizedList ExternalServiceAccountTokenSigner KubeletPSI KubeletPodResourcesDynamicResources
      KubeletPodResourcesGet KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
      MutableCSINodeAllocatableCount MutatingAdmissionPolicy PodLevelResources PodObservedGenerationTracking
      PreferSameTrafficDistribution WindowsGracefulNodeShutdown`,
    ],
    [
      { default: false, stage: 'BETA' },
      `
      DisableAllocatorDualWrite DynamicResourceAllocation VolumeAttributesClass WatchList`,
    ],
    [
      { default: true, stage: 'BETA' },
      `
      APIServerTracing AnonymousAuthConfigurableEndpoints AuthorizeNodeWithSelectors AuthorizeWithSelectors
      ConsistentListFromCache JobPodReplacementPolicy KubeletCgroupDriverFromCRI KubeletTracing NodeSwap
      OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero RecoverVolumeExpansionFailure
      RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization SchedulerQueueingHints
      SeparateTaintEvictionController StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
      StructuredAuthenticationConfiguration WinDSR WinOverlay`,
    ],
    [
      { default: false, stage: 'GA' },
      `
      KubeletPodResourcesListUseActivePods`,
    ],
    [
      { default: true, stage: 'GA' },
      `
      MultiCIDRServiceAllocator`,
    ],
    [
      undefined,
      `
      ClearingNominatedNodeNameAfterBinding ContainerRestartRules DRAConsumableCapacity DRADeviceBindingConditions
      DRAExtendedResource DRASchedulerFilterTimeout DetectCacheInconsistency EnvFiles HostnameOverride
      InPlacePodVerticalScalingExclusiveMemory MatchLabelKeysInPodTopologySpreadSelectorMerge NominatedNodeNameForExpectation
      PodCertificateRequest PreventStaticPodAPIReferences RelaxedServiceNameValidation SchedulerAsyncAPICalls
      SizeBasedListCostEstimate StructuredAuthenticationConfigurationEgressSelector TokenRequestServiceAccountUIDValidation`,
    ],
  ],
]

const atMinor = new Map<number, ReadonlyMap<string, FeatureGate>>([[NEWEST_MINOR, featureGates]])

/** Sorted by name. Of a version that is newer or older than all: those of the newest, or the oldest. */
export function featureGatesAt(minor: number): ReadonlyMap<string, FeatureGate> {
  const asked = Math.min(NEWEST_MINOR, Math.max(minor, NEWEST_MINOR - BEFORE.length))
  const known = atMinor.get(asked)
  if (known !== undefined) return known
  const gates = new Map(featureGatesAt(asked + 1))
  for (const [gate, names] of BEFORE[NEWEST_MINOR - asked - 1]!) {
    for (const name of names.trim().split(/\s+/)) {
      if (gate === undefined) gates.delete(name)
      else gates.set(name, gate)
    }
  }
  const sorted = new Map([...gates].sort(byString(([name]) => name)))
  atMinor.set(asked, sorted)
  return sorted
}
