/** The registry of controllers. One import per folder; the manager starts them in this order. */
import type { ControllerDescriptor } from '@gyropilot/runtime'
import type { ControllersConfiguration } from './configuration.ts'
import { bootstrapSignerController } from './bootstrap-signer-controller/index.ts'
import { certificateApprovingController } from './certificatesigningrequest-controllers/approving/index.ts'
import { certificateCleanerController } from './certificatesigningrequest-controllers/cleaner/index.ts'
import { certificateSigningController } from './certificatesigningrequest-controllers/signing/index.ts'
import { cloudNodeController } from './cloud-node-controller/index.ts'
import { cloudNodeLifecycleController } from './cloud-node-lifecycle-controller/index.ts'
import { clusterRoleAggregationController } from './clusterrole-aggregation-controller/index.ts'
import { clusterTrustBundlePublisherController } from './clustertrustbundle-publisher/index.ts'
import { cronJobController } from './cronjob-controller/index.ts'
import { daemonSetController } from './daemonset-controller/index.ts'
import { deploymentController } from './deployment-controller/index.ts'
import { deviceTaintEvictionController } from './device-taint-eviction-controller/index.ts'
import { disruptionController } from './disruption-controller/index.ts'
import { endpointsController } from './endpoints-controller/index.ts'
import { endpointSliceController } from './endpointslice-controller/index.ts'
import { ephemeralVolumeController } from './ephemeral-volume-controller/index.ts'
import { endpointSliceMirroringController } from './endpointslice-mirroring-controller/index.ts'
import { garbageCollectorController } from './garbage-collector-controller/index.ts'
import { horizontalPodAutoscalerController } from './horizontal-pod-autoscaler-controller/index.ts'
import { legacyTokenCleanerController } from './legacy-serviceaccount-token-cleaner-controller/index.ts'
import { jobController } from './job-controller/index.ts'
import { namespaceController } from './namespace-controller/index.ts'
import { nodeIpamController } from './node-ipam-controller/index.ts'
import { nodeLifecycleController } from './node-lifecycle-controller/index.ts'
import { persistentVolumeAttachDetachController } from './persistentvolume-attach-detach-controller/index.ts'
import { nodeRouteController } from './node-route-controller/index.ts'
import { persistentVolumeBinderController } from './persistentvolume-binder-controller/index.ts'
import { persistentVolumeExpanderController } from './persistentvolume-expander-controller/index.ts'
import { persistentVolumeProtectionController } from './persistentvolume-protection-controller/index.ts'
import { persistentVolumeClaimProtectionController } from './persistentvolumeclaim-protection-controller/index.ts'
import { podGarbageCollectorController } from './pod-garbage-collector-controller/index.ts'
import { podGroupProtectionController } from './podgroup-protection-controller/index.ts'
import { podCertificateRequestCleanerController } from './podcertificaterequest-cleaner-controller/index.ts'
import { replicaSetController } from './replicaset-controller/index.ts'
import { replicationControllerController } from './replicationcontroller-controller/index.ts'
import { resourceClaimController } from './resourceclaim-controller/index.ts'
import { resourceQuotaController } from './resourcequota-controller/index.ts'
import { resourcePoolStatusRequestController } from './resourcepoolstatusrequest-controller/index.ts'
import { rootCaCertificatePublisherController } from './root-ca-certificate-publisher-controller/index.ts'
import { selinuxWarningController } from './selinux-warning-controller/index.ts'
import { serviceCidrController } from './service-cidr-controller/index.ts'
import { serviceLbController } from './service-lb-controller/index.ts'
import { serviceAccountController } from './serviceaccount-controller/index.ts'
import { serviceAccountTokenController } from './serviceaccount-token-controller/index.ts'
import { taintEvictionController } from './taint-eviction-controller/index.ts'
import {
  storageVersionGarbageCollectorController,
  storageVersionMigratorController,
} from './storageversion-gc-and-migrator/index.ts'
import { tokenCleanerController } from './token-cleaner-controller/index.ts'
import { ttlAfterFinishedController } from './ttl-after-finished-controller/index.ts'
import { ttlController } from './ttl-controller/index.ts'
import { validatingAdmissionPolicyStatusController } from './validatingadmissionpolicy-status-controller/index.ts'
import { volumeAttributesClassProtectionController } from './volumeattributesclass-protection-controller/index.ts'
import { statefulSetController } from './statefulset-controller/index.ts'

export { defaultControllersConfiguration, featureEnabled } from './configuration.ts'
export type { ControllersConfiguration } from './configuration.ts'
export { SIGNER_NAMES } from './certificatesigningrequest-controllers/signing/config.ts'
export type {
  AuthoritySource,
  SignerName,
} from './certificatesigningrequest-controllers/signing/config.ts'

export { routeErrors } from './node-route-controller/cluster-cidrs.ts'

export const controllers: readonly ControllerDescriptor<ControllersConfiguration>[] = [
  serviceAccountTokenController,
  endpointsController,
  endpointSliceController,
  podGarbageCollectorController,
  endpointSliceMirroringController,
  replicationControllerController,
  resourceQuotaController,
  namespaceController,
  serviceAccountController,
  garbageCollectorController,
  daemonSetController,
  jobController,
  podGroupProtectionController,
  deploymentController,
  disruptionController,
  replicaSetController,
  horizontalPodAutoscalerController,
  cronJobController,
  certificateSigningController,
  certificateApprovingController,
  certificateCleanerController,
  podCertificateRequestCleanerController,
  ttlController,
  bootstrapSignerController,
  tokenCleanerController,
  nodeIpamController,
  nodeLifecycleController,
  taintEvictionController,
  clusterRoleAggregationController,
  persistentVolumeBinderController,
  persistentVolumeAttachDetachController,
  persistentVolumeExpanderController,
  persistentVolumeClaimProtectionController,
  persistentVolumeProtectionController,
  volumeAttributesClassProtectionController,
  statefulSetController,
  ttlAfterFinishedController,
  rootCaCertificatePublisherController,
  clusterTrustBundlePublisherController,
  ephemeralVolumeController,
  resourceClaimController,
  deviceTaintEvictionController,
  legacyTokenCleanerController,
  validatingAdmissionPolicyStatusController,
  storageVersionGarbageCollectorController,
  storageVersionMigratorController,
  serviceCidrController,
  resourcePoolStatusRequestController,
  selinuxWarningController,
]

/** The loops of a cloud, in cloud-controller-manager: they need a provider. */
export const cloudControllers: readonly ControllerDescriptor<ControllersConfiguration>[] = [
  cloudNodeController,
  cloudNodeLifecycleController,
  serviceLbController,
  nodeRouteController,
]
