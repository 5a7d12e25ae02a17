/** Which nodes a pod could go to. Contract: docs/behaviour/simulation/scheduler.md, One try. Pure. */
import type { Pod } from '@gyropilot/api'
import type { PreparedFilter } from './filters/node-filter.ts'
import type { NodeVerdict } from './message.ts'
import type { NodeInfo } from './node-info.ts'
import type { Snapshot } from './snapshot.ts'

const LEAST_FOUND = 100
const LEAST_PERCENT = 5

/** In a large cluster some good nodes do; the rest is not looked at. */
export function nodesToFind(count: number): number {
  if (count < LEAST_FOUND) return count
  const percent = Math.max(LEAST_PERCENT, 50 - Math.floor(count / 125))
  return Math.max(LEAST_FOUND, Math.floor((count * percent) / 100))
}

/** The first filter that fails gives the node's reasons. */
export function verdictBy(
  filters: Iterable<PreparedFilter>,
  info: NodeInfo,
): NodeVerdict | undefined {
  for (const { check, isCurable } of filters) {
    const reasons = check(info)
    if (reasons.length > 0) return { node: info.name, reasons, curable: isCurable(info, reasons) }
  }
  return undefined
}

export interface Search {
  readonly feasible: readonly NodeInfo[]
  /** Of nodes that were looked at and cannot take the pod. All of them when none can. */
  readonly verdicts: readonly NodeVerdict[]
  /** Nodes looked at: the next search begins behind them. */
  readonly looked: number
}

/** Looks from `startIndex` on, around, until enough are found. */
export function findFeasible(
  nodes: readonly NodeInfo[],
  startIndex: number,
  verdictOf: (info: NodeInfo) => NodeVerdict | undefined,
): Search {
  const wanted = nodesToFind(nodes.length)
  const feasible: NodeInfo[] = []
  const verdicts: NodeVerdict[] = []
  let looked = 0
  for (; looked < nodes.length && feasible.length < wanted; looked++) {
    const info = nodes[(startIndex + looked) % nodes.length]!
    const verdict = verdictOf(info)
    if (verdict === undefined) feasible.push(info)
    else verdicts.push(verdict)
  }
  return { feasible, verdicts, looked }
}

/** The only nodes that required affinity leaves by name, as pods of a DaemonSet ask for; undefined: any. */
export function namedNodes(pod: Pod): ReadonlySet<string> | undefined {
  const required = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  const terms = required?.nodeSelectorTerms ?? []
  if (terms.length === 0) return undefined
  const names = new Set<string>()
  for (const { matchFields = [] } of terms) {
    const field = matchFields.find(
      ({ key, operator }) => key === 'metadata.name' && operator === 'In',
    )
    if (field === undefined) return undefined
    for (const name of field.values ?? []) names.add(name)
  }
  return names
}

/** Looks at the named nodes only; all others are out by their name. */
export function findNamed(
  names: ReadonlySet<string>,
  { nodes }: Snapshot,
  infoOf: (name: string) => NodeInfo | undefined,
  verdictOf: (info: NodeInfo) => NodeVerdict | undefined,
): Omit<Search, 'looked'> {
  const feasible: NodeInfo[] = []
  const verdicts: NodeVerdict[] = []
  for (const name of names) {
    const info = infoOf(name)
    if (info?.node === undefined) continue
    const verdict = verdictOf(info)
    if (verdict === undefined) feasible.push(info)
    else verdicts.push(verdict)
  }
  if (feasible.length > 0) return { feasible, verdicts }
  const reasons = ["node(s) didn't satisfy plugin(s) [NodeAffinity]"]
  for (const { name } of nodes)
    if (!names.has(name)) verdicts.push({ node: name, reasons, curable: false })
  return { feasible, verdicts }
}
