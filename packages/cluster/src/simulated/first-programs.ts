import type { CloudProvider } from '@gyropilot/cloud-provider'
import { givesPodRanges, simulatedNodes } from '../pod-ranges.ts'
import type { Program } from './process.ts'
import {
  cloudManagerProgram,
  managerProgram,
  nodeProgram,
  schedulerProgram,
  storageProgram,
} from './programs.ts'
import type { ProgramWorld } from './programs.ts'
import type { SimulationOptions } from './simulation-options.ts'

/** More nodes than this share processes. */
const MOST_NODE_PROCESSES = 10

interface FirstPrograms {
  readonly cloud: CloudProvider | undefined
  onNodesReady(count: number): void
  onStorageReady(): void
}

/** What a cluster runs from its beginning, each by the name of its process, in the order in which they start. */
export function* firstPrograms(
  world: ProgramWorld,
  options: SimulationOptions,
  { cloud, onNodesReady, onStorageReady }: FirstPrograms,
): Iterable<readonly [string, Program]> {
  const { managers = 1, nodes = 3, controllers = ['*'], storage = true } = options
  for (let i = 0; i < managers; i++)
    yield [
      `controller-manager-${i + 1}`,
      managerProgram(world, controllers, options.coordinatedElection?.[i]),
    ]
  if (nodes > 0) yield ['scheduler', schedulerProgram(world)]
  if (cloud !== undefined) yield ['cloud-controller-manager', cloudManagerProgram(world, cloud)]
  if (nodes > 0 && storage) yield ['storage', storageProgram(world, onStorageReady)]
  const withPodRanges = managers === 0 || !givesPodRanges(controllers)
  const configurations = simulatedNodes(nodes, { withPodRanges, hasCloud: cloud !== undefined })
  const share = Math.max(1, Math.ceil(nodes / MOST_NODE_PROCESSES))
  for (let i = 0; i < nodes; i += share) {
    const own = configurations.slice(i, i + share)
    yield [own[0]!.name, nodeProgram(world, own, () => onNodesReady(own.length))]
  }
}
