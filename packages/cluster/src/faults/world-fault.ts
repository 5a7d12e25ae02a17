/** What goes wrong with a whole process, the server or a connection, at once and at no particular request. */
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'

/** What befalls a process or the cluster, rather than one request. */
export type WorldFault =
  /** SIGSTOP, and SIGCONT after `forMs`: longer than a lease, when it is long enough. */
  | { readonly kind: 'pause'; readonly process: string; readonly forMs: number }
  /** Its machine sleeps for so long: what it measures time with stands still, only wall time goes on. */
  | { readonly kind: 'suspension'; readonly process: string; readonly forMs: number }
  | { readonly kind: 'kill'; readonly process: string; readonly downMs: number }
  /** As `kill`, of a kubelet. */
  | { readonly kind: 'nodeloss'; readonly process: string; readonly downMs: number }
  /** Without a link the whole process is cut off. */
  | {
      readonly kind: 'partition'
      readonly process: string
      readonly link?: string
      readonly forMs: number
    }
  /** The API server. `compacted`: its history is gone as well, so that watches are told 410. */
  | { readonly kind: 'restart'; readonly downMs: number; readonly compacted: boolean }
  | { readonly kind: 'compaction' }
  /** Of the wall clock of one process: the others stay where they are. */
  | { readonly kind: 'jump'; readonly process: string; readonly byMs: number }

const KINDS: readonly string[] = [
  'pause',
  'suspension',
  'kill',
  'nodeloss',
  'partition',
  'restart',
  'compaction',
  'jump',
] satisfies readonly WorldFault['kind'][]

export function isWorldFault(fault: { readonly kind: string }): fault is WorldFault {
  return KINDS.includes(fault.kind)
}

/** A process that is down at the moment is not hit. */
export function strike(cluster: SimulatedCluster, fault: WorldFault): void {
  switch (fault.kind) {
    case 'pause':
      cluster.noteFault(`pause ${fault.process} for ${fault.forMs} ms`)
      cluster.process(fault.process).pause(fault.forMs)
      return
    case 'suspension':
      cluster.noteFault(`suspension of ${fault.process} for ${fault.forMs} ms`)
      cluster.process(fault.process).suspend(fault.forMs)
      return
    case 'kill':
    case 'nodeloss':
      cluster.noteFault(`${fault.kind} ${fault.process}, down for ${fault.downMs} ms`)
      cluster.process(fault.process).crash(fault.downMs)
      return
    case 'partition': {
      const { process, link, forMs } = fault
      cluster.noteFault(`partition ${process} ${link ?? ''} for ${forMs} ms`)
      cluster.network.partition(process, link, forMs)
      return
    }
    case 'restart':
      if (fault.compacted) cluster.compact()
      void cluster.restartServer(fault.downMs)
      return
    case 'compaction':
      cluster.compact()
      return
    case 'jump':
      cluster.jumpWallTime(fault.process, fault.byMs)
      return
  }
}
