/** `gyro node`: turns machines of simulated nodes off and on, by the annotation that they read. */
import { resources } from '@gyropilot/api'
import { ApiClient, TransportPool, isNotFound } from '@gyropilot/client'
import type { Client } from '@gyropilot/client'
import { SystemClock, SystemHost, silentLogger } from '@gyropilot/foundation'
import { NODE_ANNOTATION, isSimulated } from '@gyropilot/nodes'
import { gyroErrors } from '../errors.ts'
import { namedCluster } from '../named-cluster.ts'
import { ClusterRegistry } from '../running/registry.ts'
import { helpText } from './help.ts'
import { nodeDocument, nodeOptions } from './node-options.ts'
import type { NodeOptions } from './node-options.ts'

/** All nodes are looked for before the first is told. */
export async function nodeCommand(args: readonly string[]): Promise<void> {
  const options = nodeOptions(args)
  if (options.help) {
    process.stdout.write(helpText(process.stdout.columns ?? 100))
    return
  }
  const host = new SystemHost()
  const clock = new SystemClock()
  const pool = new TransportPool({ host, clock, logger: silentLogger })
  const { names } = options
  const config = await namedCluster(options, host, () => ClusterRegistry.ofUser().in(process.cwd()))
  try {
    const client = new ApiClient({
      transport: pool.transport(config),
      clock,
      userAgent: 'gyro-node',
      onWarning: () => {},
    })
    for (const name of names) await mustBeSimulated(client, name)
    for (const name of names) await tell(client, name, options, clock.nowMs())
  } finally {
    await pool.close()
  }
}

async function mustBeSimulated(client: Client, name: string): Promise<void> {
  try {
    const node = await client.resource(resources.nodes).get(name)
    if (isSimulated(node)) return
  } catch (error) {
    if (!isNotFound(error)) throw error
    throw gyroErrors.make('NODE_UNKNOWN', `there is no node ${name}: see kubectl get nodes`, {
      cause: error,
    })
  }
  throw gyroErrors.make('NODE_UNKNOWN', `node ${name} is not a simulated one: only those are told`)
}

async function tell(
  client: Client,
  name: string,
  options: NodeOptions,
  nowMs: number,
): Promise<void> {
  const value = { metadata: { annotations: { [NODE_ANNOTATION]: nodeDocument(options, nowMs) } } }
  await client.resource(resources.nodes).patch(name, { type: 'merge', value })
  process.stdout.write(`node/${name} ${options.action === 'stop' ? 'stopped' : 'started'}\n`)
}
