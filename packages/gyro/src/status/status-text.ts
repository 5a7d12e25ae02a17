/** How `gyro status` shows a cluster to people. Pure. */
import { KUBERNETES_VERSION } from '@gyropilot/api'
import type { RunningCluster } from '../running/running-cluster.ts'
import type { Inside } from './inside.ts'

export interface ClusterStatus extends RunningCluster, Inside {
  readonly memoryBytes: number | undefined
}

const MEBIBYTE = 1024 * 1024

export function statusText(cluster: ClusterStatus, nowMs: number): string {
  const { folder, server, since, version, parts, nodes, pods, problem, memoryBytes } = cluster
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['folder', folder],
    ['since', `${since}, ${ageText(nowMs - Date.parse(since))}`],
    ['version', `gyro v${version}, Kubernetes v${KUBERNETES_VERSION}`],
    ['running', parts.join(', ')],
    ['nodes', nodes && `${nodes.total}, ${nodes.ready} ready`],
    ['pods', pods && `${pods.total}, ${pods.running} running`],
    ['problem', problem],
    ['memory', memoryBytes === undefined ? undefined : `${Math.round(memoryBytes / MEBIBYTE)} MiB`],
    ['data', cluster.dataDir === '' ? 'in memory' : cluster.dataDir],
    ['kubeconfig', cluster.kubeconfig || undefined],
    ['context', cluster.merged && `${cluster.name} of ${cluster.merged}`],
    ['log', cluster.log],
  ]
  const lines = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [`  ${name.padEnd(11)} ${value}\n`],
  )
  return `${server}  process ${cluster.processId}\n${lines.join('')}`
}

const UNITS = [
  [86_400, 'days'],
  [3_600, 'hours'],
  [60, 'minutes'],
  [1, 'seconds'],
] as const

/** `3 minutes ago`: two or more of the unit, but for seconds. */
export function ageText(ageMs: number): string {
  const seconds = Math.max(0, Math.floor(ageMs / 1000))
  const [size, name] = UNITS.find(([unit]) => seconds >= 2 * unit) ?? [1, 'seconds']
  const count = Math.floor(seconds / size)
  return `${count} ${count === 1 ? 'second' : name} ago`
}
