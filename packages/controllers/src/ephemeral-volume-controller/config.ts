/** Settings. Contract: docs/behaviour/controllers/ephemeral-volume-controller.md, Flags and configuration. */
export interface EphemeralVolumeConfiguration {
  /** --concurrent-ephemeralvolume-syncs */
  readonly concurrentSyncs: number
}

export const defaultEphemeralVolumeConfiguration: EphemeralVolumeConfiguration = {
  concurrentSyncs: 5,
}

export const QUEUE_NAME = 'ephemeral_volume'
export const EVENT_COMPONENT = 'ephemeral_volume'
export const SERVICE_ACCOUNT = 'ephemeral-volume-controller'
