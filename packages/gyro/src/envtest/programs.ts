/** Where the stand-ins are. In a file of its own, because the published commands have them elsewhere. */
import { join } from 'node:path'

export function programOf(name: 'kube-apiserver' | 'etcd'): string {
  return join(import.meta.dirname, `${name}.ts`)
}
