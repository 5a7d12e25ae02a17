/** The rules of all built-in kinds. Adding a kind is adding a file and a line here. */
import type { KindRules } from '../registry/kind-rules.ts'
import {
  mutatingAdmissionPolicy,
  validatingAdmissionPolicy,
} from './admissionregistration/policies.ts'
import {
  mutatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBinding,
} from './admissionregistration/policy-bindings.ts'
import {
  mutatingWebhookConfiguration,
  validatingWebhookConfiguration,
} from './admissionregistration/webhooks.ts'
import { apiService } from './apiregistration/api-service.ts'
import { storageVersion } from './apiserverinternal/storage-version.ts'
import { controllerRevision } from './apps/controller-revision.ts'
import { daemonSet } from './apps/daemon-set.ts'
import { deployment } from './apps/deployment.ts'
import { replicaSet } from './apps/replica-set.ts'
import { statefulSet } from './apps/stateful-set.ts'
import { horizontalPodAutoscaler } from './autoscaling/horizontal-pod-autoscaler.ts'
import { cronJob } from './batch/cron-job.ts'
import { job } from './batch/job.ts'
import { certificateSigningRequest } from './certificates/certificate-signing-request.ts'
import { clusterTrustBundle } from './certificates/cluster-trust-bundle.ts'
import { podCertificateRequest } from './certificates/pod-certificate-request.ts'
import { lease } from './coordination/lease.ts'
import { leaseCandidate } from './coordination/lease-candidate.ts'
import { configMap } from './core/config-map.ts'
import { endpoints } from './core/endpoints.ts'
import { event, eventsEvent } from './core/event.ts'
import { componentStatus } from './core/component-status.ts'
import { namespace } from './core/namespace.ts'
import { node } from './core/node.ts'
import { persistentVolume } from './core/persistent-volume.ts'
import { persistentVolumeClaim } from './core/persistent-volume-claim.ts'
import { pod } from './core/pod/index.ts'
import { limitRange, resourceQuota } from './core/quotas.ts'
import { podTemplate, replicationController } from './core/replication-controller.ts'
import { secret } from './core/secret.ts'
import { service } from './core/service.ts'
import { serviceAccount } from './core/service-account.ts'
import { endpointSlice } from './discovery/endpoint-slice.ts'
import { flowSchema, priorityLevelConfiguration } from './flowcontrol/index.ts'
import { ingress, ingressClass } from './networking/ingress.ts'
import { networkPolicy } from './networking/network-policy.ts'
import { ipAddress, serviceCidr } from './networking/service-cidr.ts'
import { runtimeClass } from './node/runtime-class.ts'
import { podDisruptionBudget } from './policy/pod-disruption-budget.ts'
import { clusterRole, clusterRoleBinding, role, roleBinding } from './rbac/index.ts'
import {
  deviceClass,
  resourceClaim,
  resourceClaimTemplate,
  resourceSlice,
} from './resource/index.ts'
import { deviceTaintRule } from './resource/device-taint-rule.ts'
import { resourcePoolStatusRequest } from './resource/resource-pool-status-request.ts'
import { podGroup } from './scheduling/pod-group.ts'
import { priorityClass } from './scheduling/priority-class.ts'
import { workload } from './scheduling/workload.ts'
import {
  csiDriver,
  csiNode,
  csiStorageCapacity,
  storageClass,
  volumeAttachment,
  volumeAttributesClass,
} from './storage/index.ts'
import { storageVersionMigration } from './storagemigration/storage-version-migration.ts'

const all: readonly KindRules[] = [
  componentStatus,
  namespace,
  pod,
  podTemplate,
  replicationController,
  service,
  endpoints,
  configMap,
  secret,
  serviceAccount,
  node,
  event,
  persistentVolume,
  persistentVolumeClaim,
  resourceQuota,
  limitRange,
  deployment,
  replicaSet,
  statefulSet,
  daemonSet,
  controllerRevision,
  job,
  cronJob,
  horizontalPodAutoscaler,
  podDisruptionBudget,
  networkPolicy,
  ingress,
  ingressClass,
  serviceCidr,
  ipAddress,
  endpointSlice,
  role,
  clusterRole,
  roleBinding,
  clusterRoleBinding,
  certificateSigningRequest,
  clusterTrustBundle,
  podCertificateRequest,
  priorityClass,
  podGroup,
  workload,
  lease,
  leaseCandidate,
  eventsEvent,
  runtimeClass,
  storageClass,
  volumeAttachment,
  csiDriver,
  csiNode,
  csiStorageCapacity,
  volumeAttributesClass,
  validatingWebhookConfiguration,
  mutatingWebhookConfiguration,
  validatingAdmissionPolicy,
  validatingAdmissionPolicyBinding,
  mutatingAdmissionPolicy,
  mutatingAdmissionPolicyBinding,
  flowSchema,
  priorityLevelConfiguration,
  resourceClaim,
  resourceClaimTemplate,
  deviceClass,
  resourceSlice,
  deviceTaintRule,
  resourcePoolStatusRequest,
  storageVersion,
  storageVersionMigration,
  apiService,
]

const byKind = new Map(all.map((rules) => [`${rules.group}/${rules.kind}`, rules]))

/** Undefined for kinds without rules of their own: they are decoded, and their metadata is checked. */
export function rulesFor(group: string, kind: string): KindRules | undefined {
  return byKind.get(`${group}/${kind}`)
}
