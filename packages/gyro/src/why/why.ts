/** `gyro why`: reads a cluster and says what a deletion waits for. */
import { ApiClient, TransportPool, discover, isNotFound } from '@gyropilot/client'
import { SystemClock, SystemHost, silentLogger } from '@gyropilot/foundation'
import { gyroErrors } from '../errors.ts'
import { namedCluster } from '../named-cluster.ts'
import { ClusterRegistry } from '../running/registry.ts'
import { ClusterReader } from './cluster-reader.ts'
import type { Found } from './facts.ts'
import { findKind } from './find-kind.ts'
import { helpText } from './help.ts'
import { reportText } from './report.ts'
import { Walk, holders } from './walk.ts'
import { whyOptions } from './why-options.ts'
import type { WhyOptions } from './why-options.ts'
import { kindName } from './words.ts'

/** Ends with 1 when there is no such object, with 2 for a kind that nobody knows. */
export async function whyCommand(args: readonly string[]): Promise<void> {
  const options = whyOptions(args)
  const columns = process.stdout.columns ?? 100
  if (options.help) {
    process.stdout.write(helpText(columns))
    return
  }
  const host = new SystemHost()
  const clock = new SystemClock()
  const pool = new TransportPool({ host, clock, logger: silentLogger })
  const config = await namedCluster(options, host, () => ClusterRegistry.ofUser().in(process.cwd()))
  try {
    const client = new ApiClient({
      transport: pool.transport(config),
      clock,
      userAgent: 'gyro-why',
      // Many small reads at once, and then none: the server's own limits are enough.
      qps: -1,
      onWarning: () => {},
    })
    const cluster = new ClusterReader(client, await discover(client))
    const found = await asked(cluster, options, options.namespace || config.namespace || 'default')
    const answer = await new Walk(cluster, () => clock.nowMs()).from(found)
    process.stdout.write(
      options.output === 'json'
        ? `${JSON.stringify({ ...answer, holders: holders(answer) })}\n`
        : reportText(answer, clock.nowMs(), columns),
    )
  } finally {
    await pool.close()
  }
}

async function asked(
  cluster: ClusterReader,
  { kind, name }: WhyOptions,
  namespace: string,
): Promise<Found> {
  const type = findKind(cluster.discovered, kind)
  try {
    return { type, object: await cluster.get(type, name, namespace) }
  } catch (error) {
    if (!isNotFound(error)) throw error
    const where = type.namespaced ? ` in namespace ${namespace}` : ''
    throw gyroErrors.make(
      'OBJECT_GONE',
      `there is no ${kindName(type)}/${name}${where}: it is gone, or never was`,
      { cause: error },
    )
  }
}
