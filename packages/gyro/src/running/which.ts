/** Which cluster a command means: of this folder, unless it is told. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'
import { gyroErrors } from '../errors.ts'
import type { RunningCluster } from './running-cluster.ts'

export const processFlag: FlagDefinition = {
  name: 'process',
  type: 'int',
  default: '0',
  help: 'The cluster of this process, as gyro status shows it, in whatever folder. 0: that of this folder.',
}

interface Wish {
  readonly folder: string
  /** 0: any. */
  readonly processId: number
  /** Of all folders. */
  readonly all?: boolean
}

/** All that are meant; maybe none. */
export function meant(
  clusters: readonly RunningCluster[],
  { folder, processId, all = false }: Wish,
): readonly RunningCluster[] {
  if (processId !== 0) return clusters.filter((cluster) => cluster.processId === processId)
  return all ? clusters : clusters.filter((cluster) => cluster.folder === folder)
}

/** The one that is meant. `left`: those whose process ended without a word. */
export function theOne(
  clusters: readonly RunningCluster[],
  left: readonly RunningCluster[],
  wish: Wish,
): RunningCluster {
  const [first, ...more] = meant(clusters, wish)
  if (first === undefined) throw none(clusters, left, wish)
  if (more.length > 0) throw several([first, ...more], wish)
  return first
}

export function none(
  clusters: readonly RunningCluster[],
  left: readonly RunningCluster[],
  wish: Wish,
): Error {
  const ended = meant(left, wish).at(-1)
  const text = ended === undefined ? noneText(clusters, wish) : endedText(ended)
  return gyroErrors.make('CLUSTER_NOT_RUNNING', text)
}

/** Of one that was killed, or went down with the machine. */
function endedText({ folder, processId, server, log }: RunningCluster): string {
  const look = log === undefined ? '' : `; the end of ${log} may say why`
  return `the cluster of ${folder} (process ${processId}, ${server}) has ended and was not stopped: gyro up starts one again, gyro down clears away after it${look}`
}

export function noneText(
  clusters: readonly RunningCluster[],
  { folder, processId, all = false }: Wish,
): string {
  if (processId !== 0) return `process ${processId} runs no cluster: see gyro status --all`
  if (all || clusters.length === 0) return 'no cluster runs: start one with gyro up'
  const elsewhere = clusters.length === 1 ? 'one does' : `${clusters.length} do`
  return `no cluster runs in ${folder}, elsewhere ${elsewhere}: see gyro status --all`
}

export function several(clusters: readonly RunningCluster[], { folder }: Wish): Error {
  const processes = clusters.map(({ processId, server }) => `${processId} (${server})`).join(', ')
  return gyroErrors.make(
    'CLUSTER_AMBIGUOUS',
    `several clusters run in ${folder}: choose one with --process, of ${processes}`,
  )
}
