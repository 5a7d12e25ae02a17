/** Fixed values. Contract: docs/behaviour/controllers/bootstrap-signer-controller.md. */
export const WORKERS = 1
export const QUEUE_NAME = 'bootstrap_signer_queue'
export const SERVICE_ACCOUNT = 'bootstrap-signer'
/** No periodic events. */
export const RESYNC_PERIOD_MS = 0
/** The one key there is. */
export const CLUSTER_INFO = 'kube-public/cluster-info'
/** Of the ConfigMap's data: the text that is signed, and before each token's id the signature. */
export const SIGNED_KEY = 'kubeconfig'
export const SIGNATURE_PREFIX = 'jws-kubeconfig-'
