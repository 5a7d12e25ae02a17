/** Its members stand in the spec of a persistent volume themselves. */
const PERSISTENT_VOLUME_SOURCE =
  'GCEPersistentDisk*GCEPersistentDiskVolumeSource AWSElasticBlockStore*AWSElasticBlockStoreVolumeSource HostPath*HostPathVolumeSource Glusterfs*GlusterfsPersistentVolumeSource NFS*NFSVolumeSource RBD*RBDPersistentVolumeSource Quobyte*QuobyteVolumeSource ISCSI*ISCSIPersistentVolumeSource FlexVolume*FlexPersistentVolumeSource Cinder*CinderPersistentVolumeSource CephFS*CephFSPersistentVolumeSource~cephfs FC*FCVolumeSource~fc Flocker*FlockerVolumeSource AzureFile*AzureFilePersistentVolumeSource VsphereVolume*VsphereVolumeSource AzureDisk*AzureDiskVolumeSource PhotonPersistentDisk*PhotonPersistentDiskVolumeSource PortworxVolume*PortworxVolumeSource ScaleIO*ScaleIOPersistentVolumeSource Local*LocalVolumeSource StorageOS*StorageOSPersistentVolumeSource~storageos CSI*CSIPersistentVolumeSource'

/**
 * Go order and kinds of fields of the internal types that messages print: plain text, `#` number, `!` flag, `?` null when
 * absent, `*Type` pointer, `=Type` struct, `[]Type` list, `{}Type` map, `+` a field of the struct around it, `@` metadata whose
 * fields stand among the others; `~name` the JSON name.
 */
export const internalTypes: Readonly<Record<string, string>> = {
  ResourceClaimTemplateSpec: 'ObjectMeta@~metadata Spec=ResourceClaimSpec',
  ResourceClaimSpec: 'Devices=DeviceClaim',
  DeviceClaim:
    'Requests[]DeviceRequest Constraints[]DeviceConstraint Config[]DeviceClaimConfiguration',
  DeviceRequest: 'Name Exactly*ExactDeviceRequest FirstAvailable[]DeviceSubRequest',
  ExactDeviceRequest:
    'DeviceClassName Selectors[]DeviceSelector AllocationMode Count# AdminAccess? Tolerations[]DeviceToleration Capacity*CapacityRequirements',
  DeviceSubRequest:
    'Name DeviceClassName Selectors[]DeviceSelector AllocationMode Count# Tolerations[]DeviceToleration Capacity*CapacityRequirements',
  DeviceSelector: 'CEL*CELDeviceSelector',
  CELDeviceSelector: 'Expression',
  DeviceToleration: 'Key Operator Value Effect TolerationSeconds?',
  CapacityRequirements: 'Requests?',
  DeviceConstraint: 'Requests? MatchAttribute? DistinctAttribute?',
  DeviceClaimConfiguration: 'Requests? Opaque*OpaqueDeviceConfiguration',
  OpaqueDeviceConfiguration: 'Driver Parameters?',
  AllocationResult: 'Devices=DeviceAllocationResult NodeSelector*NodeSelector AllocationTimestamp?',
  DeviceAllocationResult:
    'Results[]DeviceRequestAllocationResult Config[]DeviceAllocationConfiguration',
  DeviceRequestAllocationResult:
    'Request Driver Pool Device AdminAccess? Tolerations[]DeviceToleration BindingConditions? BindingFailureConditions? ShareID?~shareID ConsumedCapacity?',
  DeviceAllocationConfiguration: 'Source Requests? Opaque*OpaqueDeviceConfiguration',
  DeviceAttribute:
    'IntValue?~int BoolValue?~bool StringValue?~string VersionValue?~version IntValues?~ints BoolValues?~bools StringValues?~strings VersionValues?~versions',
  PodCertificateRequestSpec:
    'SignerName PodName PodUID ServiceAccountName ServiceAccountUID NodeName NodeUID MaxExpirationSeconds? PKIXPublicKey?~pkixPublicKey ProofOfPossession? StubPKCS10Request?~stubPKCS10Request UnverifiedUserAnnotations?',
  ResourcePoolStatusRequestStatus: 'PoolCount? Pools[]PoolStatus Conditions?',
  PoolStatus:
    'Driver PoolName Generation# ResourceSliceCount? TotalDevices? AllocatedDevices? AvailableDevices? UnavailableDevices? NodeName? ValidationError?',
  PodTemplateSpec: 'Spec=PodSpec',
  PodSpec:
    'Volumes[]Volume InitContainers[]Container Containers[]Container EphemeralContainers[]EphemeralContainer RestartPolicy TerminationGracePeriodSeconds? ActiveDeadlineSeconds? DNSPolicy NodeSelector? ServiceAccountName AutomountServiceAccountToken? NodeName SecurityContext*PodSecurityContext ImagePullSecrets[]LocalObjectReference Hostname Subdomain SetHostnameAsFQDN? Affinity*Affinity SchedulerName Tolerations[]Toleration HostAliases[]HostAlias PriorityClassName Priority? PreemptionPolicy? DNSConfig*PodDNSConfig ReadinessGates[]PodReadinessGate RuntimeClassName? Overhead? EnableServiceLinks? TopologySpreadConstraints[]TopologySpreadConstraint OS*PodOS SchedulingGates[]PodSchedulingGate ResourceClaims[]PodResourceClaim Resources*ResourceRequirements HostnameOverride? SchedulingGroup*PodSchedulingGroup',
  PodSchedulingGroup: 'PodGroupName?',
  Volume:
    'Name HostPath*HostPathVolumeSource EmptyDir*EmptyDirVolumeSource GCEPersistentDisk*GCEPersistentDiskVolumeSource AWSElasticBlockStore*AWSElasticBlockStoreVolumeSource GitRepo*GitRepoVolumeSource Secret*SecretVolumeSource NFS*NFSVolumeSource ISCSI*ISCSIVolumeSource Glusterfs*GlusterfsVolumeSource PersistentVolumeClaim*PersistentVolumeClaimVolumeSource RBD*RBDVolumeSource Quobyte*QuobyteVolumeSource FlexVolume*FlexVolumeSource Cinder*CinderVolumeSource CephFS*CephFSVolumeSource~cephfs Flocker*FlockerVolumeSource DownwardAPI*DownwardAPIVolumeSource FC*FCVolumeSource~fc AzureFile*AzureFileVolumeSource ConfigMap*ConfigMapVolumeSource VsphereVolume*VsphereVolumeSource AzureDisk*AzureDiskVolumeSource PhotonPersistentDisk*PhotonPersistentDiskVolumeSource Projected*ProjectedVolumeSource PortworxVolume*PortworxVolumeSource ScaleIO*ScaleIOVolumeSource StorageOS*StorageOSVolumeSource~storageos CSI*CSIVolumeSource Ephemeral*EphemeralVolumeSource Image*ImageVolumeSource',
  PersistentVolumeSource: PERSISTENT_VOLUME_SOURCE,
  PersistentVolumeSpec: `Capacity? ${PERSISTENT_VOLUME_SOURCE} AccessModes? ClaimRef*ObjectReference PersistentVolumeReclaimPolicy StorageClassName MountOptions? VolumeMode? NodeAffinity*VolumeNodeAffinity VolumeAttributesClassName?`,
  VolumeNodeAffinity: 'Required*NodeSelector',
  HostPathVolumeSource: 'Path Type?',
  LocalVolumeSource: 'Path FSType?~fsType',
  EmptyDirVolumeSource: 'Medium SizeLimit?',
  GCEPersistentDiskVolumeSource: 'PDName~pdName FSType~fsType Partition# ReadOnly!',
  AWSElasticBlockStoreVolumeSource: 'VolumeID FSType~fsType Partition# ReadOnly!',
  GitRepoVolumeSource: 'Repository Revision Directory',
  SecretVolumeSource: 'SecretName Items[]KeyToPath DefaultMode? Optional?',
  NFSVolumeSource: 'Server Path ReadOnly!',
  ISCSIVolumeSource:
    'TargetPortal IQN Lun# ISCSIInterface~iscsiInterface FSType~fsType ReadOnly! Portals? DiscoveryCHAPAuth!~chapAuthDiscovery SessionCHAPAuth!~chapAuthSession SecretRef*LocalObjectReference InitiatorName?',
  GlusterfsVolumeSource: 'EndpointsName~endpoints Path ReadOnly!',
  PersistentVolumeClaimVolumeSource: 'ClaimName ReadOnly!',
  DownwardAPIVolumeSource: 'Items[]DownwardAPIVolumeFile DefaultMode?',
  DownwardAPIProjection: 'Items[]DownwardAPIVolumeFile',
  DownwardAPIVolumeFile:
    'Path FieldRef*ObjectFieldSelector ResourceFieldRef*ResourceFieldSelector Mode?',
  ObjectFieldSelector: 'APIVersion FieldPath',
  ResourceFieldSelector: 'ContainerName Resource Divisor#',
  ConfigMapVolumeSource: 'Name Items[]KeyToPath DefaultMode? Optional?',
  ConfigMapProjection: 'Name Items[]KeyToPath Optional?',
  KeyToPath: 'Key Path Mode?',
  ProjectedVolumeSource: 'Sources[]VolumeProjection DefaultMode?',
  VolumeProjection:
    'Secret*ConfigMapProjection DownwardAPI*DownwardAPIProjection ConfigMap*ConfigMapProjection ServiceAccountToken*ServiceAccountTokenProjection ClusterTrustBundle*ClusterTrustBundleProjection PodCertificate*PodCertificateProjection',
  ServiceAccountTokenProjection: 'Audience ExpirationSeconds# Path',
  CSIVolumeSource:
    'Driver ReadOnly? FSType?~fsType VolumeAttributes? NodePublishSecretRef*LocalObjectReference',
  CSIPersistentVolumeSource:
    'Driver VolumeHandle ReadOnly! FSType~fsType VolumeAttributes? ControllerPublishSecretRef*SecretReference NodeStageSecretRef*SecretReference NodePublishSecretRef*SecretReference ControllerExpandSecretRef*SecretReference NodeExpandSecretRef*SecretReference',
  EphemeralVolumeSource: 'VolumeClaimTemplate*PersistentVolumeClaimTemplate',
  PersistentVolumeClaimTemplate: 'ObjectMeta@~metadata Spec=PersistentVolumeClaimSpec',
  PersistentVolumeClaimSpec:
    'AccessModes? Selector?LabelSelector Resources=VolumeResourceRequirements VolumeName StorageClassName? VolumeMode? DataSource*TypedLocalObjectReference DataSourceRef*TypedObjectReference VolumeAttributesClassName?',
  VolumeResourceRequirements: 'Limits? Requests?',
  TypedLocalObjectReference: 'APIGroup? Kind Name',
  TypedObjectReference: 'APIGroup? Kind Name Namespace?',
  ImageVolumeSource: 'Reference PullPolicy',
  Container:
    'Name Image Command? Args? WorkingDir Ports[]ContainerPort EnvFrom[]EnvFromSource Env[]EnvVar Resources=ResourceRequirements ResizePolicy[]ContainerResizePolicy RestartPolicy? RestartPolicyRules[]ContainerRestartRule VolumeMounts[]VolumeMount VolumeDevices[]VolumeDevice LivenessProbe*Probe ReadinessProbe*Probe StartupProbe*Probe Lifecycle*Lifecycle TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext*SecurityContext Stdin! StdinOnce! TTY!',
  EphemeralContainer:
    'Name Image Command? Args? WorkingDir Ports[]ContainerPort EnvFrom[]EnvFromSource Env[]EnvVar Resources=ResourceRequirements ResizePolicy[]ContainerResizePolicy RestartPolicy? RestartPolicyRules[]ContainerRestartRule VolumeMounts[]VolumeMount VolumeDevices[]VolumeDevice LivenessProbe*Probe ReadinessProbe*Probe StartupProbe*Probe Lifecycle*Lifecycle TerminationMessagePath TerminationMessagePolicy ImagePullPolicy SecurityContext*SecurityContext Stdin! StdinOnce! TTY! TargetContainerName',
  ContainerPort: 'Name HostPort# ContainerPort# Protocol HostIP',
  EnvFromSource: 'Prefix ConfigMapRef*OptionalReference SecretRef*OptionalReference',
  OptionalReference: 'Name Optional?',
  EnvVar: 'Name Value ValueFrom*EnvVarSource',
  EnvVarSource:
    'FieldRef*ObjectFieldSelector ResourceFieldRef*ResourceFieldSelector ConfigMapKeyRef*KeySelector SecretKeyRef*KeySelector FileKeyRef*FileKeySelector',
  KeySelector: 'Name Key Optional?',
  ResourceRequirements: 'Limits? Requests? Claims[]ResourceClaim',
  ResourceClaim: 'Name Request',
  ContainerResizePolicy: 'ResourceName RestartPolicy',
  VolumeMount: 'Name ReadOnly! RecursiveReadOnly? MountPath SubPath MountPropagation? SubPathExpr',
  VolumeDevice: 'Name DevicePath',
  Probe:
    'Exec*ExecAction HTTPGet*HTTPGetAction TCPSocket*TCPSocketAction GRPC*GRPCAction InitialDelaySeconds# TimeoutSeconds# PeriodSeconds# SuccessThreshold# FailureThreshold# TerminationGracePeriodSeconds?',
  ExecAction: 'Command?',
  HTTPGetAction: 'Path Port# Host Scheme HTTPHeaders[]HTTPHeader',
  HTTPHeader: 'Name Value',
  TCPSocketAction: 'Port# Host',
  GRPCAction: 'Port# Service?',
  Lifecycle: 'PostStart*LifecycleHandler PreStop*LifecycleHandler StopSignal?',
  LifecycleHandler:
    'Exec*ExecAction HTTPGet*HTTPGetAction TCPSocket*TCPSocketAction Sleep*SleepAction',
  SleepAction: 'Seconds#',
  SecurityContext:
    'Capabilities*Capabilities Privileged? SELinuxOptions*SELinuxOptions~seLinuxOptions WindowsOptions*WindowsSecurityContextOptions RunAsUser? RunAsGroup? RunAsNonRoot? ReadOnlyRootFilesystem? AllowPrivilegeEscalation? ProcMount? SeccompProfile*SeccompProfile AppArmorProfile*SeccompProfile',
  Capabilities: 'Add? Drop?',
  SELinuxOptions: 'User Role Type Level',
  SeccompProfile: 'Type LocalhostProfile?',
  PodSecurityContext:
    'HostNetwork+Flag HostPID+Flag HostIPC+Flag ShareProcessNamespace+Null HostUsers+Null SELinuxOptions*SELinuxOptions~seLinuxOptions WindowsOptions*WindowsSecurityContextOptions RunAsUser? RunAsGroup? RunAsNonRoot? SupplementalGroups? SupplementalGroupsPolicy? FSGroup?~fsGroup FSGroupChangePolicy?~fsGroupChangePolicy Sysctls[]Sysctl SeccompProfile*SeccompProfile AppArmorProfile*SeccompProfile SELinuxChangePolicy?~seLinuxChangePolicy',
  Sysctl: 'Name Value',
  LocalObjectReference: 'Name',
  Affinity: 'NodeAffinity*NodeAffinity PodAffinity*PodAffinity PodAntiAffinity*PodAffinity',
  NodeAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution*NodeSelector PreferredDuringSchedulingIgnoredDuringExecution[]PreferredSchedulingTerm',
  NodeSelector: 'NodeSelectorTerms[]NodeSelectorTerm',
  PreferredSchedulingTerm: 'Weight# Preference=NodeSelectorTerm',
  NodeSelectorTerm:
    'MatchExpressions[]NodeSelectorRequirement MatchFields[]NodeSelectorRequirement',
  NodeSelectorRequirement: 'Key Operator Values?',
  PodAffinity:
    'RequiredDuringSchedulingIgnoredDuringExecution[]PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution[]WeightedPodAffinityTerm',
  WeightedPodAffinityTerm: 'Weight# PodAffinityTerm=PodAffinityTerm',
  PodAffinityTerm:
    'LabelSelector?LabelSelector Namespaces? TopologyKey NamespaceSelector?LabelSelector MatchLabelKeys? MismatchLabelKeys?',
  PodFailurePolicy: 'Rules[]PodFailurePolicyRule',
  PodFailurePolicyRule:
    'Action OnExitCodes*PodFailurePolicyOnExitCodes OnPodConditions[]PodFailurePolicyOnPodConditions',
  PodFailurePolicyOnExitCodes: 'ContainerName? Operator Values?',
  PodFailurePolicyOnPodConditions: 'Type Status',
  SuccessPolicy: 'Rules[]SuccessPolicyRule',
  SuccessPolicyRule: 'SucceededIndexes? SucceededCount?',
  Toleration: 'Key Operator Value Effect TolerationSeconds?',
  HostAlias: 'IP Hostnames?',
  PodDNSConfig: 'Nameservers? Searches? Options[]PodDNSConfigOption',
  PodDNSConfigOption: 'Name Value?',
  PodReadinessGate: 'ConditionType',
  TopologySpreadConstraint:
    'MaxSkew# TopologyKey WhenUnsatisfiable LabelSelector?LabelSelector MinDomains? NodeAffinityPolicy? NodeTaintsPolicy? MatchLabelKeys?',
  PodOS: 'Name',
  PodSchedulingGate: 'Name',
  PodResourceClaim: 'Name ResourceClaimName? ResourceClaimTemplateName?',
  RBDVolumeSource:
    'CephMonitors?~monitors RBDImage~image FSType~fsType RBDPool~pool RadosUser~user Keyring SecretRef*LocalObjectReference ReadOnly!',
  RBDPersistentVolumeSource:
    'CephMonitors?~monitors RBDImage~image FSType~fsType RBDPool~pool RadosUser~user Keyring SecretRef*SecretReference ReadOnly!',
  QuobyteVolumeSource: 'Registry Volume ReadOnly! User Group Tenant',
  FlexVolumeSource: 'Driver FSType~fsType SecretRef*LocalObjectReference ReadOnly! Options?',
  FlexPersistentVolumeSource: 'Driver FSType~fsType SecretRef*SecretReference ReadOnly! Options?',
  CinderVolumeSource: 'VolumeID FSType~fsType ReadOnly! SecretRef*LocalObjectReference',
  CinderPersistentVolumeSource: 'VolumeID FSType~fsType ReadOnly! SecretRef*SecretReference',
  CephFSVolumeSource: 'Monitors? Path User SecretFile SecretRef*LocalObjectReference ReadOnly!',
  CephFSPersistentVolumeSource:
    'Monitors? Path User SecretFile SecretRef*SecretReference ReadOnly!',
  FlockerVolumeSource: 'DatasetName DatasetUUID',
  FCVolumeSource: 'TargetWWNs? Lun? FSType~fsType ReadOnly! WWIDs?~wwids',
  AzureFileVolumeSource: 'SecretName ShareName ReadOnly!',
  AzureFilePersistentVolumeSource: 'SecretName ShareName ReadOnly! SecretNamespace?',
  VsphereVolumeSource: 'VolumePath FSType~fsType StoragePolicyName StoragePolicyID',
  AzureDiskVolumeSource: 'DiskName DataDiskURI~diskURI CachingMode? FSType?~fsType ReadOnly? Kind?',
  PhotonPersistentDiskVolumeSource: 'PdID FSType~fsType',
  PortworxVolumeSource: 'VolumeID FSType~fsType ReadOnly!',
  ScaleIOVolumeSource:
    'Gateway System SecretRef*LocalObjectReference SSLEnabled! ProtectionDomain StoragePool StorageMode VolumeName FSType~fsType ReadOnly!',
  ScaleIOPersistentVolumeSource:
    'Gateway System SecretRef*SecretReference SSLEnabled! ProtectionDomain StoragePool StorageMode VolumeName FSType~fsType ReadOnly!',
  StorageOSVolumeSource:
    'VolumeName VolumeNamespace FSType~fsType ReadOnly! SecretRef*LocalObjectReference',
  StorageOSPersistentVolumeSource:
    'VolumeName VolumeNamespace FSType~fsType ReadOnly! SecretRef*ObjectReference',
  GlusterfsPersistentVolumeSource: 'EndpointsName~endpoints Path ReadOnly! EndpointsNamespace?',
  ISCSIPersistentVolumeSource:
    'TargetPortal IQN Lun# ISCSIInterface~iscsiInterface FSType~fsType ReadOnly! Portals? DiscoveryCHAPAuth!~chapAuthDiscovery SessionCHAPAuth!~chapAuthSession SecretRef*SecretReference InitiatorName?',
  SecretReference: 'Name Namespace',
  EventSource: 'Component Host',
  ObjectReference: 'Kind Namespace Name UID APIVersion ResourceVersion FieldPath',
  ClusterTrustBundleProjection: 'Name? SignerName? LabelSelector?LabelSelector Optional? Path',
  PodCertificateProjection:
    'SignerName KeyType MaxExpirationSeconds? CredentialBundlePath KeyPath CertificateChainPath UserAnnotations?',
  ContainerRestartRule: 'Action ExitCodes*ContainerRestartRuleOnExitCodes',
  ContainerRestartRuleOnExitCodes: 'Operator Values?',
  FileKeySelector: 'VolumeName Path Key Optional?',
  WindowsSecurityContextOptions:
    'GMSACredentialSpecName?~gmsaCredentialSpecName GMSACredentialSpec?~gmsaCredentialSpec RunAsUserName? HostProcess?',
  JSONSchemaProps:
    'ID~id Schema~$schema Ref?~$ref Description Type Nullable! Format Title Default? Maximum? ExclusiveMaximum! Minimum? ExclusiveMinimum! MaxLength? MinLength? Pattern MaxItems? MinItems? UniqueItems! MultipleOf? Enum? MaxProperties? MinProperties? Required? Items*JSONSchemaPropsOrArray AllOf[]JSONSchemaProps OneOf[]JSONSchemaProps AnyOf[]JSONSchemaProps Not*JSONSchemaProps Properties{}JSONSchemaProps AdditionalProperties*JSONSchemaPropsOrBool PatternProperties{}JSONSchemaProps Dependencies? AdditionalItems*JSONSchemaPropsOrBool Definitions{}JSONSchemaProps ExternalDocs*ExternalDocumentation Example? XPreserveUnknownFields?~x-kubernetes-preserve-unknown-fields XEmbeddedResource!~x-kubernetes-embedded-resource XIntOrString!~x-kubernetes-int-or-string XListMapKeys?~x-kubernetes-list-map-keys XListType?~x-kubernetes-list-type XMapType?~x-kubernetes-map-type XValidations[]ValidationRule~x-kubernetes-validations',
  ExternalDocumentation: 'Description URL',
  ValidationRule: 'Rule Message MessageExpression Reason? FieldPath OptionalOldSelf?',
  JSONSchemaPropsOrArray: 'Schema*JSONSchemaProps JSONSchemas[]JSONSchemaProps~schemas',
  JSONSchemaPropsOrBool: 'Allows! Schema*JSONSchemaProps',
  CustomResourceSubresourceScale: 'SpecReplicasPath StatusReplicasPath LabelSelectorPath?',
  CustomResourceColumnDefinition: 'Name Type Format Description Priority# JSONPath~jsonPath',
  SelectableField: 'JSONPath~jsonPath',
  FlowSchemaSpec:
    'PriorityLevelConfiguration=PriorityLevelConfigurationReference MatchingPrecedence# DistinguisherMethod*FlowDistinguisherMethod Rules[]PolicyRulesWithSubjects',
  PriorityLevelConfigurationReference: 'Name',
  FlowDistinguisherMethod: 'Type',
  PolicyRulesWithSubjects:
    'Subjects[]FlowSubject ResourceRules[]ResourcePolicyRule NonResourceRules[]NonResourcePolicyRule',
  FlowSubject: 'Kind User*PodOS Group*PodOS ServiceAccount*ServiceAccountSubject',
  ServiceAccountSubject: 'Namespace Name',
  ResourcePolicyRule: 'Verbs? APIGroups?~apiGroups Resources? ClusterScope! Namespaces?',
  NonResourcePolicyRule: 'Verbs? NonResourceURLs?~nonResourceURLs',
  PriorityLevelConfigurationSpec:
    'Type Limited*LimitedPriorityLevelConfiguration Exempt*ExemptPriorityLevelConfiguration',
  LimitedPriorityLevelConfiguration:
    'NominalConcurrencyShares# LimitResponse=LimitResponse LendablePercent? BorrowingLimitPercent?',
  ExemptPriorityLevelConfiguration: 'NominalConcurrencyShares? LendablePercent?',
  LimitResponse: 'Type Queuing*QueuingConfiguration',
  QueuingConfiguration: 'Queues# QueueLengthLimit# HandSize#',
}
