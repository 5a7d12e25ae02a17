/** Of gyro: that of the packages, kept in step by the release; and the Kubernetes that it is. */
export const VERSION = '0.1.0'
export const KUBERNETES_VERSION = '1.36.0'
