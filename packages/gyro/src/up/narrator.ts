/** Which events of the cluster are worth a line on the terminal, and what the line says. Pure. */
import type { Event } from '@gyropilot/api'

/** Normal events that mark a step a newcomer wants to see; warnings are always told. */
const NOTABLE = new Set([
  'ScalingReplicaSet',
  'DeploymentRollback',
  'NodeReady',
  'NodeNotReady',
  'LeaderElection',
  'SuccessfulDelete',
  'SuccessfulCreate',
  'Killing',
])

/** Events about single pods are told only when something is wrong: their owners tell the rest. */
const QUIET_KINDS = new Set(['Pod'])

export interface Line {
  readonly level: 'normal' | 'warning'
  readonly text: string
}

/** More nodes than this that become ready at about one time are told as a number. */
const FEW_NODES = 5

/** The lines of events that came at about one time, in their order. */
export function linesOf(events: readonly Event[]): readonly Line[] {
  const isReadyNode = ({ reason }: Event): boolean => reason === 'NodeReady'
  const ready = events.filter(isReadyNode).length
  const told = ready > FEW_NODES ? events.filter((event) => !isReadyNode(event)) : events
  const lines = told.map(lineOf).filter((line) => line !== undefined)
  return ready > FEW_NODES
    ? [{ level: 'normal', text: `${ready} nodes are ready` }, ...lines]
    : lines
}

/** Undefined: not worth a line. Repeats of an event are told at 2, 10, 100, ... */
function lineOf(event: Event): Line | undefined {
  const { kind = '', name = '', namespace } = event.involvedObject ?? {}
  const warning = event.type === 'Warning'
  if (!warning && (!NOTABLE.has(event.reason ?? '') || QUIET_KINDS.has(kind))) return undefined
  const count = event.count ?? event.series?.count ?? 1
  if (count > 2 && !/^10+$/.test(String(count))) return undefined
  const where = namespace && kind !== 'Node' ? `${namespace}/${name}` : name
  const times = count > 1 ? ` (${count} times)` : ''
  const text = `${kind.toLowerCase()} ${where}: ${event.message ?? event.reason}${times}`
  return { level: warning ? 'warning' : 'normal', text }
}
