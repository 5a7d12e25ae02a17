/** A cluster in this process that listens on loopback, for players that speak HTTPS. */
import { createClusterCertificates, createMemoryStore } from '@gyropilot/api-server'
import type { RuntimeConfig } from '@gyropilot/api-server'
import { Cluster, nodeIpam } from '@gyropilot/cluster'
import type { AuditEntry } from '@gyropilot/cluster'
import type { Clock } from '@gyropilot/foundation'
import { PrometheusRegistry, SystemClock, SystemRandom, silentLogger } from '@gyropilot/foundation'

interface ListeningCluster {
  readonly cluster: Cluster
  readonly server: string
  stop(): Promise<void>
}

export async function startCluster(options: {
  /** `true`: those that run by default; a list as `--controllers` takes it. */
  readonly controllers: boolean | readonly string[]
  readonly audit?: (entry: AuditEntry) => void
  /** Default: the machine's. */
  readonly clock?: Clock
  /** Turned on beyond those that are on by default. */
  readonly featureGates?: readonly string[]
  readonly scheduler?: boolean
  /** Versions served beyond the default. */
  readonly runtimeConfig?: RuntimeConfig
  /** What must be there before the controllers. */
  readonly prepare?: (cluster: Cluster) => Promise<void>
}): Promise<ListeningCluster> {
  const { clock = new SystemClock(), featureGates = [], scheduler = false, prepare } = options
  const random = new SystemRandom()
  const certificates = createClusterCertificates({ clock, random })
  const cluster = new Cluster({
    clock,
    random,
    logger: silentLogger,
    metrics: new PrometheusRegistry(),
    store: createMemoryStore(clock),
    certificates,
    // As of the manager that was recorded: what it hands out is known by its form.
    configuration: { nodeIpam: { ...nodeIpam('ipv4'), clusterCidr: '10.244.0.0/16' } },
    featureGates: Object.fromEntries(featureGates.map((gate) => [gate, true])),
    ...(options.runtimeConfig === undefined ? {} : { runtimeConfig: options.runtimeConfig }),
    ...(options.audit === undefined ? {} : { audit: options.audit }),
  })
  const { certificatePem, privateKeyPem: keyPem } = certificates.serving
  const listener = await cluster.server.listen({ host: '127.0.0.1', port: 0, certificatePem, keyPem })
  await cluster.start()
  await prepare?.(cluster)
  if (scheduler) await cluster.startScheduler().ready
  const { controllers } = options
  if (controllers !== false) await cluster.startControllerManager(controllers === true ? undefined : controllers).ready
  const server = `https://127.0.0.1:${listener.port}`
  return { cluster, server, stop: () => cluster.stop(100) }
}
