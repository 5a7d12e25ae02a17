/**
 * What kube-controller-manager's flags set for these controllers. The manager fills it from flags;
 * every controller reads only its own part. Each controller's part is one member, so that new
 * controllers add a line here and nothing else.
 */
import type { CertificateSigningConfiguration } from './certificatesigningrequest-controllers/signing/config.ts'
import { defaultCertificateSigningConfiguration } from './certificatesigningrequest-controllers/signing/config.ts'
import type { CloudConfiguration } from './cloud-support/config.ts'
import { defaultCloudConfiguration } from './cloud-support/config.ts'
import type { CloudNodeConfiguration } from './cloud-node-controller/config.ts'
import { defaultCloudNodeConfiguration } from './cloud-node-controller/config.ts'
import type { CloudNodeLifecycleConfiguration } from './cloud-node-lifecycle-controller/config.ts'
import { defaultCloudNodeLifecycleConfiguration } from './cloud-node-lifecycle-controller/config.ts'
import type { CronJobConfiguration } from './cronjob-controller/config.ts'
import { defaultCronJobConfiguration } from './cronjob-controller/config.ts'
import type { DaemonSetConfiguration } from './daemonset-controller/config.ts'
import { defaultDaemonSetConfiguration } from './daemonset-controller/config.ts'
import type { DeploymentConfiguration } from './deployment-controller/config.ts'
import { defaultDeploymentConfiguration } from './deployment-controller/config.ts'
import type { DeviceTaintEvictionConfiguration } from './device-taint-eviction-controller/config.ts'
import { defaultDeviceTaintEvictionConfiguration } from './device-taint-eviction-controller/config.ts'
import type { EndpointsConfiguration } from './endpoints-controller/config.ts'
import { defaultEndpointsConfiguration } from './endpoints-controller/config.ts'
import type { EndpointSliceConfiguration } from './endpointslice-controller/config.ts'
import { defaultEndpointSliceConfiguration } from './endpointslice-controller/config.ts'
import type { EphemeralVolumeConfiguration } from './ephemeral-volume-controller/config.ts'
import { defaultEphemeralVolumeConfiguration } from './ephemeral-volume-controller/config.ts'
import type { EndpointSliceMirroringConfiguration } from './endpointslice-mirroring-controller/config.ts'
import { defaultEndpointSliceMirroringConfiguration } from './endpointslice-mirroring-controller/config.ts'
import type { GarbageCollectorConfiguration } from './garbage-collector-controller/config.ts'
import { defaultGarbageCollectorConfiguration } from './garbage-collector-controller/config.ts'
import type { JobConfiguration } from './job-controller/config.ts'
import { defaultJobConfiguration } from './job-controller/config.ts'
import type { HorizontalPodAutoscalerConfiguration } from './horizontal-pod-autoscaler-controller/config.ts'
import { defaultHorizontalPodAutoscalerConfiguration } from './horizontal-pod-autoscaler-controller/config.ts'
import type { LegacyTokenCleanerConfiguration } from './legacy-serviceaccount-token-cleaner-controller/config.ts'
import { defaultLegacyTokenCleanerConfiguration } from './legacy-serviceaccount-token-cleaner-controller/config.ts'
import type { NamespaceConfiguration } from './namespace-controller/config.ts'
import { defaultNamespaceConfiguration } from './namespace-controller/config.ts'
import type { NodeIpamConfiguration } from './node-ipam-controller/config.ts'
import { defaultNodeIpamConfiguration } from './node-ipam-controller/config.ts'
import type { NodeLifecycleConfiguration } from './node-lifecycle-controller/config.ts'
import { defaultNodeLifecycleConfiguration } from './node-lifecycle-controller/config.ts'
import type { AttachDetachConfiguration } from './persistentvolume-attach-detach-controller/config.ts'
import { defaultAttachDetachConfiguration } from './persistentvolume-attach-detach-controller/config.ts'
import type { NodeRouteConfiguration } from './node-route-controller/config.ts'
import { defaultNodeRouteConfiguration } from './node-route-controller/config.ts'
import type { PersistentVolumeBinderConfiguration } from './persistentvolume-binder-controller/config.ts'
import { defaultPersistentVolumeBinderConfiguration } from './persistentvolume-binder-controller/config.ts'
import type { PodGarbageCollectorConfiguration } from './pod-garbage-collector-controller/config.ts'
import { defaultPodGarbageCollectorConfiguration } from './pod-garbage-collector-controller/config.ts'
import type { ReplicaSetConfiguration } from './replicaset-controller/config.ts'
import { defaultReplicaSetConfiguration } from './replicaset-controller/config.ts'
import type { ReplicationControllerConfiguration } from './replicationcontroller-controller/config.ts'
import { defaultReplicationControllerConfiguration } from './replicationcontroller-controller/config.ts'
import type { ResourceClaimConfiguration } from './resourceclaim-controller/config.ts'
import { defaultResourceClaimConfiguration } from './resourceclaim-controller/config.ts'
import type { ResourceQuotaConfiguration } from './resourcequota-controller/config.ts'
import { defaultResourceQuotaConfiguration } from './resourcequota-controller/config.ts'
import type { RootCaPublisherConfiguration } from './root-ca-certificate-publisher-controller/config.ts'
import { defaultRootCaPublisherConfiguration } from './root-ca-certificate-publisher-controller/config.ts'
import type { ServiceAccountTokenConfiguration } from './serviceaccount-token-controller/config.ts'
import { defaultServiceAccountTokenConfiguration } from './serviceaccount-token-controller/config.ts'
import type { ServiceLbConfiguration } from './service-lb-controller/config.ts'
import { defaultServiceLbConfiguration } from './service-lb-controller/config.ts'
import type { StatefulSetConfiguration } from './statefulset-controller/config.ts'
import { defaultStatefulSetConfiguration } from './statefulset-controller/config.ts'
import type { TtlAfterFinishedConfiguration } from './ttl-after-finished-controller/config.ts'
import { defaultTtlAfterFinishedConfiguration } from './ttl-after-finished-controller/config.ts'
import type { ValidatingAdmissionPolicyStatusConfiguration } from './validatingadmissionpolicy-status-controller/config.ts'
import { defaultValidatingAdmissionPolicyStatusConfiguration } from './validatingadmissionpolicy-status-controller/config.ts'

export interface ControllersConfiguration {
  /** Feature gates as set with --feature-gates; those left out have the default of 1.36. */
  readonly featureGates: Readonly<Record<string, boolean>>
  readonly attachDetach: AttachDetachConfiguration
  readonly certificateSigning: CertificateSigningConfiguration
  readonly cloud: CloudConfiguration
  readonly cloudNode: CloudNodeConfiguration
  readonly cloudNodeLifecycle: CloudNodeLifecycleConfiguration
  readonly cronJob: CronJobConfiguration
  readonly daemonSet: DaemonSetConfiguration
  readonly deployment: DeploymentConfiguration
  readonly deviceTaintEviction: DeviceTaintEvictionConfiguration
  readonly endpoints: EndpointsConfiguration
  readonly endpointSlice: EndpointSliceConfiguration
  readonly ephemeralVolume: EphemeralVolumeConfiguration
  readonly endpointSliceMirroring: EndpointSliceMirroringConfiguration
  readonly garbageCollector: GarbageCollectorConfiguration
  readonly horizontalPodAutoscaler: HorizontalPodAutoscalerConfiguration
  readonly legacyTokenCleaner: LegacyTokenCleanerConfiguration
  readonly job: JobConfiguration
  readonly namespace: NamespaceConfiguration
  readonly nodeIpam: NodeIpamConfiguration
  readonly nodeLifecycle: NodeLifecycleConfiguration
  readonly nodeRoute: NodeRouteConfiguration
  readonly persistentVolumeBinder: PersistentVolumeBinderConfiguration
  readonly podGarbageCollector: PodGarbageCollectorConfiguration
  readonly replicaSet: ReplicaSetConfiguration
  readonly replicationController: ReplicationControllerConfiguration
  readonly resourceClaim: ResourceClaimConfiguration
  readonly resourceQuota: ResourceQuotaConfiguration
  readonly rootCaPublisher: RootCaPublisherConfiguration
  readonly serviceAccountToken: ServiceAccountTokenConfiguration
  readonly serviceLb: ServiceLbConfiguration
  readonly statefulSet: StatefulSetConfiguration
  readonly ttlAfterFinished: TtlAfterFinishedConfiguration
  readonly validatingAdmissionPolicyStatus: ValidatingAdmissionPolicyStatusConfiguration
}

export const defaultControllersConfiguration: ControllersConfiguration = {
  featureGates: {},
  attachDetach: defaultAttachDetachConfiguration,
  certificateSigning: defaultCertificateSigningConfiguration,
  cloud: defaultCloudConfiguration,
  cloudNode: defaultCloudNodeConfiguration,
  cloudNodeLifecycle: defaultCloudNodeLifecycleConfiguration,
  cronJob: defaultCronJobConfiguration,
  daemonSet: defaultDaemonSetConfiguration,
  deployment: defaultDeploymentConfiguration,
  deviceTaintEviction: defaultDeviceTaintEvictionConfiguration,
  endpoints: defaultEndpointsConfiguration,
  endpointSlice: defaultEndpointSliceConfiguration,
  ephemeralVolume: defaultEphemeralVolumeConfiguration,
  endpointSliceMirroring: defaultEndpointSliceMirroringConfiguration,
  garbageCollector: defaultGarbageCollectorConfiguration,
  horizontalPodAutoscaler: defaultHorizontalPodAutoscalerConfiguration,
  legacyTokenCleaner: defaultLegacyTokenCleanerConfiguration,
  job: defaultJobConfiguration,
  namespace: defaultNamespaceConfiguration,
  nodeIpam: defaultNodeIpamConfiguration,
  nodeLifecycle: defaultNodeLifecycleConfiguration,
  nodeRoute: defaultNodeRouteConfiguration,
  persistentVolumeBinder: defaultPersistentVolumeBinderConfiguration,
  podGarbageCollector: defaultPodGarbageCollectorConfiguration,
  replicaSet: defaultReplicaSetConfiguration,
  replicationController: defaultReplicationControllerConfiguration,
  resourceClaim: defaultResourceClaimConfiguration,
  resourceQuota: defaultResourceQuotaConfiguration,
  rootCaPublisher: defaultRootCaPublisherConfiguration,
  serviceAccountToken: defaultServiceAccountTokenConfiguration,
  serviceLb: defaultServiceLbConfiguration,
  statefulSet: defaultStatefulSetConfiguration,
  ttlAfterFinished: defaultTtlAfterFinishedConfiguration,
  validatingAdmissionPolicyStatus: defaultValidatingAdmissionPolicyStatusConfiguration,
}

/** Whether a gate is on. Most gates that controllers ask for are on by default in 1.36. */
export function featureEnabled(
  configuration: Pick<ControllersConfiguration, 'featureGates'>,
  gate: string,
  byDefault = true,
): boolean {
  return configuration.featureGates[gate] ?? byDefault
}
