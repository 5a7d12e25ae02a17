import type { AdmissionPlugin } from '../contracts.ts'
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
  clusterTrustBundleAttest,
  podCertificateSigning,
} from './certificates.ts'
import { claimStatusAuthorization } from './claim-status-authorization.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { limitRanger } from './pods/limit-ranger.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'
import { defaultTolerationSeconds, taintNodesByCondition } from './node-defaults.ts'
import { podGroupProtection, podGroupWorkloadExists } from './pods/pod-groups.ts'
import { podResizeValidator } from './pods/pod-resize-validator.ts'
import { podSecurity } from './pod-security/plugin.ts'
import { nodeRestriction } from './node-restriction.ts'
import { parameterAuthorization } from './parameter-authorization.ts'
import { podTopologyLabels } from './pods/pod-topology-labels.ts'
import { mutatingAdmissionPolicies, validatingAdmissionPolicies } from './policies/plugin.ts'
import { priority } from './pods/priority.ts'
import { rbacEscalation } from './rbac-escalation.ts'
import { resourceQuota } from './resource-quota/plugin.ts'
import { runtimeClass } from './pods/runtime-class.ts'
import { isSelected } from './selection.ts'
import type { AdmissionSelection } from './selection.ts'
import { serviceAccount } from './pods/service-account.ts'
import {
  defaultStorageClass,
  persistentVolumeClaimResize,
  storageObjectInUseProtection,
} from './storage-defaults.ts'
import { mutatingWebhooks, validatingWebhooks } from './webhooks/plugin.ts'
import type { AdmissionWorld } from './world.ts'

export type { PodSecurityDefaults } from './pod-security/defaults.ts'
export { selectionProblem } from './selection.ts'
export type { AdmissionSelection } from './selection.ts'
export { serviceResolver } from './webhooks/client-config.ts'
export type { ServiceResolver } from './webhooks/client-config.ts'

/** The plug-ins that are on, in kube-apiserver's order. The same list is walked for mutation, then for validation. */
export function admissionPlugins(
  world: AdmissionWorld,
  selection: AdmissionSelection = {},
): AdmissionPlugin[] {
  return allPlugins(world).filter(({ name }) => isSelected(name, selection))
}

function allPlugins(world: AdmissionWorld): AdmissionPlugin[] {
  return [
    namespaceLifecycle(world),
    limitRanger(world),
    serviceAccount(world),
    nodeRestriction(world),
    taintNodesByCondition(),
    podSecurity(world),
    priority(world),
    defaultTolerationSeconds(),
    defaultStorageClass(world),
    storageObjectInUseProtection(),
    podGroupProtection(),
    persistentVolumeClaimResize(world),
    runtimeClass(world),
    certificateApproval(world),
    certificateSigning(world),
    clusterTrustBundleAttest(world),
    certificateSubjectRestriction(),
    defaultIngressClass(world),
    podTopologyLabels(world),
    podGroupWorkloadExists(world),
    podResizeValidator(world),
    mutatingAdmissionPolicies(world),
    mutatingWebhooks(world),
    validatingAdmissionPolicies(world),
    validatingWebhooks(world),
    rbacEscalation(world),
    parameterAuthorization(world),
    claimStatusAuthorization(world),
    podCertificateSigning(world),
    resourceQuota(world),
  ]
}
