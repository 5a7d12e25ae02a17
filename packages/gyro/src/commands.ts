/** The commands of gyro: what each is for and what it takes. Help and completion are made of it. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'

interface Command {
  readonly name: string
  readonly summary: string
  /** Words that its first argument may be. */
  readonly words?: readonly string[]
  /** Its arguments are files and folders. */
  readonly takesFiles?: boolean
  /** Loaded for who asks. */
  flags?(): Promise<readonly FlagDefinition[]>
}

export const commands: readonly Command[] = [
  {
    name: 'up',
    summary:
      'Start a cluster and keep it running: API server, controllers, scheduler, simulated nodes.',
    flags: async () => (await import('./up/up-flags.ts')).upFlags,
  },
  {
    name: 'status',
    summary: 'Say what runs in this folder, or in all, and how it is.',
    flags: async () => (await import('./status/status-flags.ts')).statusFlags,
  },
  {
    name: 'down',
    summary: 'Stop the cluster of this folder.',
    flags: async () => (await import('./down/down-flags.ts')).downFlags,
  },
  {
    name: 'kubeconfig',
    summary: 'Print the kubeconfig of the cluster of this folder, or merge it into ~/.kube/config.',
    flags: async () => (await import('./kubeconfig/kubeconfig-flags.ts')).kubeconfigFlags,
  },
  {
    name: 'node',
    summary: 'Turn the machine of a simulated node off and on again.',
    words: ['stop', 'start'],
    flags: async () => (await import('./node/node-flags.ts')).nodeFlags,
  },
  {
    name: 'simulate',
    summary:
      'Run a cluster on virtual time with faults from a seed, and check that it ends as it must.',
    flags: async () => (await import('./simulate/simulate-flags.ts')).simulateFlags,
  },
  {
    name: 'why',
    summary: 'Say what the deletion of an object waits for, on any cluster.',
    flags: async () => (await import('./why/why-flags.ts')).whyFlags,
  },
  {
    name: 'check',
    summary: 'Judge manifests as kube-apiserver would, without a cluster.',
    takesFiles: true,
    flags: async () => (await import('./check/check-flags.ts')).checkFlags,
  },
  {
    name: 'envtest',
    summary:
      'Print a folder with kube-apiserver, etcd and kubectl for test harnesses: KUBEBUILDER_ASSETS=$(gyro envtest).',
    flags: async () => (await import('./envtest/envtest-flags.ts')).envtestFlags,
  },
  {
    name: 'completion',
    summary: 'Print what bash, zsh or fish need to complete commands and flags.',
    words: ['bash', 'zsh', 'fish'],
  },
  {
    name: 'version',
    summary: 'Print the version.',
    flags: async () => (await import('./version/version-flags.ts')).versionFlags,
  },
]

export function commandsHelp(): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`)
  return `gyro: a Kubernetes cluster in one process

Usage:
  gyro COMMAND [flags]

Commands:
${lines.join('')}
Run 'gyro COMMAND --help' for the flags of a command.
`
}
