/** Fixed values of the publisher. Contract: docs/behaviour/controllers/clustertrustbundle-publisher.md. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'

/** Not among the types of `@gyropilot/api`, which has what a default server serves. */
export interface ClusterTrustBundle extends KubernetesObject {
  readonly spec: { readonly signerName?: string; readonly trustBundle: string }
}

const GROUP = 'certificates.k8s.io'
const RESOURCE = 'clustertrustbundles'

export type BundleType = ResourceType<ClusterTrustBundle>

/** The one that a server is preferred to serve comes first. */
export const BUNDLE_TYPES: readonly BundleType[] = ['v1beta1', 'v1alpha1'].map((version) => ({
  group: GROUP,
  version,
  resource: RESOURCE,
  kind: 'ClusterTrustBundle',
  namespaced: false,
}))

export const SIGNER_NAME = 'kubernetes.io/kube-apiserver-serving'
export const FEATURE_GATE = 'ClusterTrustBundle'
export const CLIENT_IDENTITY = 'kube-apiserver-serving-clustertrustbundle-publisher'
export const QUEUE_NAME = 'ca_cert_publisher_cluster_trust_bundles'
/** There is one thing to do, and this is its key. */
export const KEY = ''
