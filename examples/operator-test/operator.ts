import type { Program, SimulatedCluster } from '@gyropilot/cluster'
import { PrometheusRegistry, silentLogger } from '@gyropilot/foundation'
import { ControllerManager, installDefinition } from '@gyropilot/runtime'
import { addWebsiteController } from '../website-operator/controller.ts'
import { websiteDefinition } from '../website-operator/website.ts'

export const OPERATOR = 'website-operator'

/** The operator as its `main.ts` starts it, with the clock, the chance and the network of a simulated process. */
export function operatorProgram(cluster: SimulatedCluster): Program {
  return async (life) => {
    const { clock, random, signal } = life
    const client = cluster.clientOf(life, OPERATOR)
    await installDefinition(client, websiteDefinition, { clock, random, signal })
    // Every life is a process of its own: its metrics begin anew.
    const metrics = new PrometheusRegistry()
    const manager = new ControllerManager({ client, clock, random, logger: silentLogger, metrics })
    addWebsiteController(manager)
    await manager.start(signal)
  }
}
