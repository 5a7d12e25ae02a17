/** Several controller managers as processes of their own: they elect a leader, and one may be killed to see what happens. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { nodeIpam } from '@gyropilot/cluster/live'
import type { IpFamily } from '@gyropilot/cluster/live'
import { errorText, formatGoDuration } from '@gyropilot/foundation'
import type { ElectionTiming } from '@gyropilot/runtime'
import type { ManagerKeys } from './files/manager-keys.ts'
import { managerCommand } from './manager-command.ts'
import type { Terminal } from './terminal.ts'

/** What a manager logs when it becomes the leader. */
const WON_THE_LEASE = '"Successfully acquired lease"'

interface ManagerProcessesOptions {
  readonly count: number
  readonly election: ElectionTiming
  readonly kubeconfig: string
  /** Removed when this process ends. Absent: token Secrets are not filled, and no certificates signed. */
  readonly keys?: ManagerKeys
  readonly controllers: readonly string[]
  readonly featureGates: ReadonlyMap<string, boolean>
  readonly family: IpFamily
  readonly verbosity: number
  readonly terminal: Terminal
}

export interface ManagerProcesses {
  readonly pids: readonly number[]
  /** Private, for this user alone. */
  readonly keyFiles: readonly string[]
  stop(): Promise<void>
}

export function startManagers(options: ManagerProcessesOptions): ManagerProcesses {
  const { count, election, kubeconfig, keys, controllers, featureGates, verbosity, terminal } =
    options
  const ranges = nodeIpam(options.family)
  const [command, ...words] = managerCommand()
  const args = [
    ...words,
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--controllers=${controllers.join(',')}`,
    ...[...featureGates].map(([name, isOn]) => `--feature-gates=${name}=${isOn}`),
    '--use-service-account-credentials=true',
    '--secure-port=0',
    '--allocate-node-cidrs=true',
    `--cluster-cidr=${ranges.clusterCidr}`,
    `--service-cluster-ip-range=${ranges.serviceClusterIpRange}`,
    ...(keys === undefined ? [] : keyFlags(keys)),
    `--leader-elect-lease-duration=${formatGoDuration(election.leaseDurationMs)}`,
    `--leader-elect-renew-deadline=${formatGoDuration(election.renewDeadlineMs)}`,
    `--leader-elect-retry-period=${formatGoDuration(election.retryPeriodMs)}`,
    `--v=${verbosity}`,
  ]
  let stopping = false
  const children = Array.from({ length: count }, (_, index) => {
    const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
    createInterface({ input: child.stderr }).on('line', (logLine) => {
      if (verbosity > 0) process.stderr.write(`${logLine}\n`)
      if (!logLine.includes(WON_THE_LEASE)) return
      terminal.line({
        level: 'normal',
        text: `manager ${index + 1} (process ${child.pid}) is the leader`,
      })
    })
    child.on('error', (error) =>
      terminal.line({
        level: 'warning',
        text: `manager ${index + 1} cannot start: ${errorText(error)}`,
      }),
    )
    child.on('exit', (code, signal) => {
      if (stopping) return
      const how = signal === null ? `with exit code ${code}` : `by ${signal}`
      const text = `manager ${index + 1} (process ${child.pid}) ended ${how}`
      terminal.line({ level: 'warning', text })
    })
    return child
  })
  // However this process ends: those that are not told find out by their lease, seconds later.
  process.once('exit', () => {
    for (const child of children) child.kill('SIGTERM')
    keys?.remove()
  })
  return {
    keyFiles: keys?.files ?? [],
    pids: children.flatMap(({ pid }) => (pid === undefined ? [] : [pid])),
    async stop() {
      stopping = true
      await Promise.all(children.map(stopChild))
    },
  }
}

function keyFlags({ serviceAccountKeyFile, signingAuthority }: ManagerKeys): readonly string[] {
  return [
    `--service-account-private-key-file=${serviceAccountKeyFile}`,
    `--cluster-signing-cert-file=${signingAuthority.certFile}`,
    `--cluster-signing-key-file=${signingAuthority.keyFile}`,
  ]
}

function stopChild(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill('SIGTERM')
  })
}
