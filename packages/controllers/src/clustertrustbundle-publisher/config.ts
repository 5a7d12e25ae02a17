/** Fixed values of the publisher. Contract: docs/behaviour/controllers/clustertrustbundle-publisher.md. */
import { resourcesOnRequest } from '@gyropilot/api'
import type { ClusterTrustBundle, ResourceType } from '@gyropilot/api'

export type BundleType = ResourceType<ClusterTrustBundle>

/** The one that a server is preferred to serve comes first. */
export const BUNDLE_TYPES: readonly BundleType[] = ['v1beta1', 'v1alpha1'].map((version) => ({
  ...resourcesOnRequest.clustertrustbundles,
  version,
}))

export const SIGNER_NAME = 'kubernetes.io/kube-apiserver-serving'
export const FEATURE_GATE = 'ClusterTrustBundle'
export const CLIENT_IDENTITY = 'kube-apiserver-serving-clustertrustbundle-publisher'
export const QUEUE_NAME = 'ca_cert_publisher_cluster_trust_bundles'
/** There is one thing to do, and this is its key. */
export const KEY = ''
