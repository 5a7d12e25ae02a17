/** What the certificate controllers share. */
export const CLIENT_IDENTITY = 'certificate-controller'
export const QUEUE_NAME = 'certificate'
export const WORKERS = 5
/** Of the first retry of a key, and of its later ones at most. */
export const RETRY_BASE_MS = 200
export const RETRY_MAX_MS = 1000_000

export const KUBELET_CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet'
