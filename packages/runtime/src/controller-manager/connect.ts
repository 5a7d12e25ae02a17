/** Contract: docs/behaviour/runtime/custom-controllers.md, Client and cache, Config. */
import {
  ApiClient,
  TransportPool,
  inClusterConfig,
  isOutsideOfPod,
  loadClientConfig,
  serverBackoffFrom,
} from '@gyropilot/client'
import type { Client, RestConfig } from '@gyropilot/client'
import { silentLogger } from '@gyropilot/foundation'
import type { Clock, HostEnvironment, Logger, MetricsRegistry } from '@gyropilot/foundation'

const NAMESPACE_FILE = '/var/run/secrets/kubernetes.io/serviceaccount/namespace'

/** Only host and clock are needed. */
export interface ConnectOptions {
  readonly host: HostEnvironment
  readonly clock: Clock
  /** `--kubeconfig`. */
  readonly kubeconfig?: string
  readonly logger?: Logger
  readonly metrics?: MetricsRegistry
  readonly userAgent?: string
  /** Default: no limit of our own; servers have theirs. */
  readonly qps?: number
  readonly burst?: number
}

/** A client and what it rests on; to be closed when nobody uses the client any more. */
export interface Connection {
  readonly client: Client
  /** Of the pod, where this runs in one. */
  readonly namespace: string | undefined
  close(): Promise<void>
}

/** A client for the cluster of `--kubeconfig`, else of KUBECONFIG, else of the pod this runs in, else of `~/.kube/config`. */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { host, clock, logger = silentLogger, metrics, userAgent, qps = -1, burst } = options
  const config = await loadConfig(options.kubeconfig, host, logger)
  const transports = new TransportPool({ host, clock, logger, metrics })
  return {
    client: new ApiClient({
      transport: transports.transport(config),
      clock,
      logger,
      metrics,
      host: new URL(config.server).host,
      userAgent,
      qps,
      burst,
      backoff: serverBackoffFrom(host),
    }),
    namespace: await podNamespace(host),
    close: () => transports.close(),
  }
}

async function loadConfig(
  kubeconfig: string | undefined,
  host: HostEnvironment,
  logger: Logger,
): Promise<RestConfig> {
  if (kubeconfig || host.env('KUBECONFIG')) return loadClientConfig({ kubeconfig }, host, logger)
  let outside: unknown
  try {
    return await inClusterConfig(host, logger)
  } catch (error) {
    if (!isOutsideOfPod(error)) throw error
    outside = error
  }
  try {
    return await loadClientConfig({}, host, logger)
  } catch (error) {
    logger.error(outside, 'unable to load in-cluster config')
    throw error
  }
}

async function podNamespace(host: HostEnvironment): Promise<string | undefined> {
  try {
    return (await host.readTextFile(NAMESPACE_FILE)).trim() || undefined
  } catch {
    return undefined
  }
}
