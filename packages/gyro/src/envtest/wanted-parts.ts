/** What the environment asks for beside the API server. Pure. */
import { unknownItems } from '@gyropilot/manager/controller-names'
import { gyroErrors } from '../errors.ts'
import { MOST_NODES } from '../up/up-flags.ts'

export interface WantedParts {
  /** As of --controllers; empty: no controller runs. */
  readonly items: readonly string[]
  readonly nodes: number
}

/**
 * GYRO_CONTROLLERS: `*` or a list as of --controllers. GYRO_NODES: simulated nodes, with a scheduler; by default one when all
 * controllers run, so that pods come up. Undefined: nothing is asked for.
 */
export function wantedParts(
  environment: Readonly<Record<string, string | undefined>>,
): WantedParts | undefined {
  const { GYRO_CONTROLLERS = '', GYRO_NODES = '' } = environment
  const items = GYRO_CONTROLLERS.split(',').filter((item) => item !== '')
  const [unknown] = unknownItems(items)
  if (unknown !== undefined) throw invalid(`GYRO_CONTROLLERS: ${unknown}`)
  const nodes = GYRO_NODES === '' ? Number(items.includes('*')) : Number(GYRO_NODES)
  if (!Number.isInteger(nodes) || nodes < 0 || nodes > MOST_NODES)
    throw invalid(`GYRO_NODES=${GYRO_NODES} is not a number of nodes: use 0 to ${MOST_NODES}`)
  return items.length === 0 && nodes === 0 ? undefined : { items, nodes }
}

function invalid(message: string): Error {
  return gyroErrors.make('KUBE_APISERVER_FLAG_INVALID', message)
}
