/** How a controller manager is started. In a file of its own, because the published commands have it elsewhere. */
import { join } from 'node:path'

export function managerCommand(): readonly [string, ...string[]] {
  return [join(import.meta.dirname, '../../../../bin/kube-controller-manager')]
}
