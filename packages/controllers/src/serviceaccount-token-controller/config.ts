/**
 * Settings of the token controller.
 * Contract: docs/behaviour/controllers/serviceaccount-token-controller.md, Flags and configuration.
 */
export interface ServiceAccountTokenConfiguration {
  /** --service-account-private-key-file: the key in PEM, RSA or ECDSA. Empty: the controller does not run. */
  readonly privateKeyPem: string
  /** PEM bundle for `ca.crt`, byte for byte. Empty: `ca.crt` is never written. */
  readonly rootCaPem: string
  /** --concurrent-serviceaccount-token-syncs, for each of the two queues. */
  readonly concurrentTokenSyncs: number
}

export const defaultServiceAccountTokenConfiguration: ServiceAccountTokenConfiguration = {
  privateKeyPem: '',
  rootCaPem: '',
  concurrentTokenSyncs: 5,
}

/** Of both queues. */
export const QUEUE_NAME = 'serviceaccount_tokens_service'
export const CLIENT_IDENTITY = 'tokens-controller'
/** No periodic events. */
export const RESYNC_PERIOD_MS = 0
/** After so many failed tries a key waits for its next event. */
export const MAX_RETRIES = 10

/** Taking a Secret's name off its account: tries, and the least pause between two of them; it is up to twice as long. */
export const REFERENCE_REMOVAL_TRIES = 10
export const REFERENCE_REMOVAL_PAUSE_MS = 100
