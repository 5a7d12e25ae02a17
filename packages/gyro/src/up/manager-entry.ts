/** Where the program of a controller manager is. In a file of its own, because the published commands have it elsewhere. */
import { createRequire } from 'node:module'

export function managerEntry(): string {
  return createRequire(import.meta.url).resolve('@gyropilot/manager/main')
}
