/**
 * The feature gates of Kubernetes 1.36. Alpha and beta ones are those that `kube-controller-manager --help` lists; the rest is
 * not listed and still accepted, with the one value that a locked gate can have. A control plane is often given one
 * --feature-gates value for all its programs, so most of these change nothing in these loops.
 */
import { byString } from '@gyropilot/foundation'

export interface FeatureGate {
  readonly default: boolean
  readonly stage: 'ALPHA' | 'BETA' | 'GA' | 'DEPRECATED'
  /** Cannot be set to another value. */
  readonly locked?: boolean
}

const ALPHA = `
  APIServingWithRoutine AllAlpha AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
  CRIListStreaming CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation
  CloudControllerManagerWebhook ContainerStopSignals ControllerManagerReleaseLeaderElectionLockOnExit
  CrossNamespaceVolumeDataSource DRAListTypeAttributes DRANodeAllocatableResources DRAResourcePoolStatus
  DRAWorkloadResourceClaims EventedPLEG GangScheduling GenericWorkload HPAScaleToZero ImageVolumeWithDigest
  InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace LoggingAlphaOptions
  ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity NativeHistograms PersistentVolumeClaimUnusedSinceTime
  PodAndContainerStatsFromCRI PodLevelResourceManagers PodLogsQuerySplitStreams PodsAPI QOSReserved
  ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi ShardedListAndWatch StorageCapacityScoring StorageVersionAPI
  TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions
  UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity WorkloadAwarePreemption WorkloadWithJob`

const BETA_ON = `
  APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO
  AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
  ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz
  ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging DRAConsumableCapacity
  DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices DRAResourceClaimDeviceStatus
  DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout DeclarativeValidationBeta
  DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency EnvFiles ExtendWebSocketsToKubelet GracefulNodeShutdown
  GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride InOrderInformersBatchProcess
  InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers KubeletCrashLoopBackOffMax
  KubeletEnsureSecretPulledImages KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
  LoggingBetaOptions MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
  MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures
  NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PLEGOnDemandRelist PodDeletionCost PodLevelResources
  PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences
  RelaxedServiceNameValidation ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RemoteRequestHeaderUID
  ResourceHealthStatus ResourceHealthStatusMessage RestartAllContainersOnContainerExits RotateKubeletServerCertificate
  SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
  StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
  StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionHash StrictIPCIDRValidation
  StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
  TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
  UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
  WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsGracefulNodeShutdown`

const BETA_OFF = `
  AllBeta ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
  DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet PodCertificateRequest SELinuxMount
  SchedulerAsyncAPICalls StorageVersionMigrator`

const GA_LOCKED = `
  APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors AuthorizeWithSelectors
  BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIMigrationPortworx ComponentSLIs ConsistentListFromCache
  CustomResourceFieldSelectors DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout HonorPVReclaimPolicy
  ImageMaximumGCAge InOrderInformers InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy
  JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletTracing LogarithmicScaleDown MatchLabelKeysInPodAffinity MemoryManager
  MultiCIDRServiceAllocator NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeSwap OrderedNamespaceDeletion
  PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness
  PreferSameTrafficDistribution RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation
  RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization RetryGenerateName SELinuxChangePolicy
  SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
  ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SidecarContainers
  StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
  StructuredAuthorizationConfiguration SupplementalGroupsPolicy SystemdWatchdog TopologyAwareHints VolumeAttributesClass WinDSR
  WinOverlay`

/** Left beta in 1.36; whether they are locked there is not known here, so both values are taken. */
const GA = `
  CSIServiceAccountTokenSecrets DRAAdminAccess DRAPrioritizedList DeclarativeValidation DisableCPUQuotaWithExclusiveCPUs
  ExternalServiceAccountTokenSigner ImageVolume KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources
  KubeletPodResourcesGet MutableCSINodeAllocatableCount MutatingAdmissionPolicy NodeLogQuery ProcMountType
  SELinuxMountReadWriteOncePod TopologyManagerPolicyOptions UserNamespacesSupport`

const DEPRECATED_ON = `
  DisableNodeKubeProxyVersion KubeletPodResourcesListUseActivePods StorageNamespaceIndex`

const DEPRECATED_OFF = `
  AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests CPUCFSQuotaPeriod ChangeContainerStatusOnKubeletRestart
  DeclarativeValidationTakeover GitRepoVolumeDriver InPlacePodVerticalScalingAllocatedStatus KMSv1
  KubeletRegistrationGetOnExistsOnly SeparateCacheWatchRPC WindowsHostNetwork`

const TABLE: readonly (readonly [gate: FeatureGate, names: string])[] = [
  [{ default: false, stage: 'ALPHA' }, ALPHA],
  [{ default: true, stage: 'BETA' }, BETA_ON],
  [{ default: false, stage: 'BETA' }, BETA_OFF],
  [{ default: true, stage: 'GA', locked: true }, GA_LOCKED],
  [{ default: true, stage: 'GA' }, GA],
  [{ default: true, stage: 'DEPRECATED' }, DEPRECATED_ON],
  [{ default: false, stage: 'DEPRECATED' }, DEPRECATED_OFF],
  [{ default: true, stage: 'DEPRECATED', locked: true }, 'AggregatedDiscoveryRemoveBetaType'],
  [
    { default: false, stage: 'DEPRECATED', locked: true },
    'AllowOverwriteTerminationGracePeriodSeconds WatchFromStorageWithoutResourceVersion',
  ],
]

/** Sorted by name. */
export const featureGates: ReadonlyMap<string, FeatureGate> = new Map(
  TABLE.flatMap(([gate, names]) =>
    names
      .trim()
      .split(/\s+/)
      .map((name) => [name, gate] as const),
  ).sort(byString(([name]) => name)),
)
