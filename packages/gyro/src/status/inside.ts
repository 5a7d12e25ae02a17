/** What a cluster itself says: its nodes and pods. */
import { resources } from '@gyropilot/api'
import type { Node, Pod } from '@gyropilot/api'
import { ApiClient, TransportPool, loadClientConfig } from '@gyropilot/client'
import { SystemHost, errorText, silentLogger } from '@gyropilot/foundation'
import type { Clock } from '@gyropilot/foundation'
import type { RunningCluster } from '../running/running-cluster.ts'

/** One that is suspended or busy is not waited for. */
const PATIENCE_MS = 3_000

export interface Inside {
  readonly nodes?: { readonly total: number; readonly ready: number }
  readonly pods?: { readonly total: number; readonly running: number }
  /** Why the others are not known. */
  readonly problem?: string
}

export async function inside(
  { kubeconfig }: Pick<RunningCluster, 'kubeconfig'>,
  clock: Clock,
): Promise<Inside> {
  const host = new SystemHost()
  const pool = new TransportPool({ host, clock, logger: silentLogger })
  const cancel = new AbortController()
  const timer = clock.after(PATIENCE_MS, () => cancel.abort())
  try {
    const config = await loadClientConfig(kubeconfig === '' ? {} : { kubeconfig }, host)
    const transport = pool.transport(config)
    const client = new ApiClient({ transport, clock, userAgent: 'gyro-status', onWarning() {} })
    const { signal } = cancel
    const [nodes, pods] = await Promise.all([
      client.resource(resources.nodes).list({ resourceVersion: '0', signal }),
      client.resource(resources.pods).list({ resourceVersion: '0', signal }),
    ])
    return {
      nodes: { total: nodes.items.length, ready: nodes.items.filter(isReady).length },
      pods: { total: pods.items.length, running: pods.items.filter(isRunning).length },
    }
  } catch (error) {
    return {
      problem: cancel.signal.aborted
        ? `it does not answer within ${PATIENCE_MS / 1000} s`
        : errorText(error),
    }
  } finally {
    timer.cancel()
    await pool.close()
  }
}

function isReady({ status }: Node): boolean {
  return (
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  )
}

function isRunning({ status }: Pod): boolean {
  return status?.phase === 'Running'
}
