/** How the stand-ins are started. In a file of its own, because the published commands have them elsewhere. */
import { join } from 'node:path'

/** What Node is given: here the few files that all modules of the program are kept in, as `bin/gyro` starts. */
export function programOf(name: 'kube-apiserver' | 'etcd'): readonly [string, ...string[]] {
  const launcher = join(import.meta.dirname, '../../../../scripts/packed-start.cjs')
  return [launcher, join(import.meta.dirname, `${name}.ts`)]
}
