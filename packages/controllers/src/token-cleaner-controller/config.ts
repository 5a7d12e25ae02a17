/** Fixed values. Contract: docs/behaviour/controllers/token-cleaner-controller.md, Concurrency, retries, timing. */
export const WORKERS = 1
export const QUEUE_NAME = 'token_cleaner'
export const SERVICE_ACCOUNT = 'token-cleaner'
/** No periodic events: the end of a token is a timer of its own. */
export const RESYNC_PERIOD_MS = 0
