/**
 * Fixed values of the ServiceAccount controller.
 * Contract: docs/behaviour/controllers/serviceaccount-controller.md, Flags and configuration.
 */
export const WORKERS = 1
export const QUEUE_NAME = 'serviceaccount'
/** Unlike the controller's name. */
export const CLIENT_IDENTITY = 'service-account-controller'
/** Accounts that every active namespace has. */
export const ENSURED_ACCOUNTS: readonly string[] = ['default']
