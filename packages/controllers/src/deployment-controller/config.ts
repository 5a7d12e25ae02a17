/**
 * Settings of the Deployment controller.
 * Contract: docs/behaviour/controllers/deployment-controller.md, Flags and configuration.
 */
export interface DeploymentConfiguration {
  /** --concurrent-deployment-syncs */
  readonly concurrentDeploymentSyncs: number
}

export const defaultDeploymentConfiguration: DeploymentConfiguration = {
  concurrentDeploymentSyncs: 5,
}

/** A key that keeps failing is dropped after so many retries. */
export const MAX_RETRIES = 15
