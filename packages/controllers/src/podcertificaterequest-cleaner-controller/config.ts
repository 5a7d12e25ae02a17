/** Fixed values of the cleaner. Contract: docs/behaviour/controllers/podcertificaterequest-cleaner-controller.md. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'

/** Not among the types of `@gyropilot/api`, which has what a default server serves. Nothing but its metadata is looked at. */
export const podCertificateRequests: ResourceType<KubernetesObject> = {
  group: 'certificates.k8s.io',
  version: 'v1beta1',
  resource: 'podcertificaterequests',
  kind: 'PodCertificateRequest',
  namespaced: true,
}

export const FEATURE_GATE = 'PodCertificateRequest'
export const CLIENT_IDENTITY = 'podcertificaterequestcleaner'
/** From the end of one scan to the beginning of the next. */
export const SCAN_PERIOD_MS = 5 * 60_000
/** By then the kubelet has read its answer, or never will. */
export const LIFETIME_MS = 15 * 60_000
