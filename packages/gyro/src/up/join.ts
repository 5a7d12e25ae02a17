/** `gyro up` without an API server of its own: its parts work on the cluster that the kubeconfig names. */
import { TransportPool } from '@gyropilot/client'
import type { RestConfig } from '@gyropilot/client'
import { Parts, nodeIpam } from '@gyropilot/cluster/live'
import type { Connection } from '@gyropilot/cluster/live'
import { PrometheusRegistry, SystemHost } from '@gyropilot/foundation'
import { namedCluster } from '../named-cluster.ts'
import { ClusterRegistry } from '../running/registry.ts'
import type { World } from './world.ts'
import type { UpOptions } from './up-options.ts'

interface Joined {
  readonly parts: Parts
  readonly server: string
  readonly kubeconfig: string
  close(): Promise<void>
}

export async function join(options: UpOptions, world: World): Promise<Joined> {
  const { clock, random, logger } = world
  const host = new SystemHost()
  const config = await namedCluster(
    { kubeconfig: options.kubeconfig, context: '' },
    host,
    () => ClusterRegistry.ofUser().in(process.cwd()),
    logger,
  )
  const metrics = new PrometheusRegistry()
  const pool = new TransportPool({ host, clock, logger, metrics })
  const connection = await connectionOf(config, pool, host)
  const featureGates = Object.fromEntries(options.featureGates)
  const configuration = { nodeIpam: nodeIpam(options.family) }
  const common = { connection, clock, random, logger, metrics }
  const parts = new Parts({ ...common, featureGates, configuration })
  // One request before anything starts: a wrong address or credential is told at once.
  await parts.client().raw({ method: 'GET', path: '/version' })
  return {
    parts,
    server: config.server,
    kubeconfig: options.kubeconfig,
    async close() {
      await parts.stop()
      await pool.close()
    },
  }
}

/** All parts have the one identity of the kubeconfig. */
async function connectionOf(
  config: RestConfig,
  pool: TransportPool,
  host: SystemHost,
): Promise<Connection> {
  const { caData, caFile } = config.tls
  return {
    host: new URL(config.server).host,
    authorityPem: caData ?? (caFile === undefined ? '' : await host.readTextFile(caFile)),
    transportAs: () => pool.transport(config),
  }
}
