/** Where `gyro up` leaves its files, and whether it runs in the background. */
import type { UpOptions } from './up-options.ts'

/** The folder of kubeconfig, port and log. */
export function placeOf({ dataDir }: Pick<UpOptions, 'dataDir'>): string {
  return dataDir === '' ? '.gyropilot' : dataDir
}

/** Set for the process that `gyro up --detach` leaves behind: its log. */
export const LOG_VARIABLE = 'GYRO_UP_LOG'

export function isDetached(): boolean {
  return process.send !== undefined && process.env[LOG_VARIABLE] !== undefined
}
