/**
 * Settings of the cleaner.
 * Contract: docs/behaviour/controllers/legacy-serviceaccount-token-cleaner-controller.md, Flags and configuration.
 */
export interface LegacyTokenCleanerConfiguration {
  /** --legacy-service-account-token-clean-up-period: how long a token goes unused before it is refused, and then before it is deleted. */
  readonly cleanUpPeriodMs: number
}

export const DAY_MS = 24 * 3_600_000

export const defaultLegacyTokenCleanerConfiguration: LegacyTokenCleanerConfiguration = {
  cleanUpPeriodMs: 365 * DAY_MS,
}

/** From the end of one run to the beginning of the next. */
export const RUN_PERIOD_MS = DAY_MS
export const CLIENT_IDENTITY = 'legacy-service-account-token-cleaner'
