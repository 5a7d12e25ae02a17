/** All flags of cloud-controller-manager 1.36. Contract: docs/behaviour/controllers/cloud-controller-manager.md, Flags and configuration. */
import { knownCloudControllers } from '../cloud/cloud-controller-names.ts'
import { controllerFlags } from './controller-flags.ts'
import { group } from './flag-group.ts'
import type { FlagGroup } from './flag-group.ts'
import { generalFlags } from './general-flags.ts'
import type { FlagDefinition } from './pflag.ts'
import { servingFlags } from './serving-flags.ts'

const CONTROLLERS_HELP =
  "Controllers to run: '*' all that are on by default, 'foo' that one, '-foo' not that one; the first item that names a " +
  `controller wins, and old names are understood. All: ${knownCloudControllers.map(({ name }) => name).join(', ')}.`

const shared: ReadonlyMap<string, FlagDefinition> = new Map(
  [...generalFlags, ...controllerFlags, ...servingFlags].flatMap(({ flags }) =>
    flags.map((flag) => [flag.name, flag] as const),
  ),
)

/** As kube-controller-manager has it, but for what is said here. Here these flags have their effect, unless it is said otherwise. */
function as(name: string, changes: Partial<FlagDefinition> = {}): FlagDefinition {
  return { ...shared.get(name)!, unused: undefined, ...changes }
}

/** Without effect there and here. */
function unused(name: string): FlagDefinition {
  return shared.get(name)!
}

/** The groups of kube-controller-manager of these titles. */
function groupsOf(...titles: readonly string[]): readonly FlagGroup[] {
  return [...generalFlags, ...servingFlags].filter(({ title }) => titles.includes(title))
}

const generic: FlagGroup = {
  title: 'Generic',
  flags: [
    as('controller-shutdown-timeout'),
    as('controller-start-interval'),
    as('controllers', { help: CONTROLLERS_HELP }),
    unused('emulated-version'),
    as('feature-gates'),
    as('kube-api-burst'),
    unused('kube-api-content-type'),
    as('kube-api-qps'),
    as('leader-elect'),
    as('leader-elect-lease-duration'),
    as('leader-elect-renew-deadline'),
    as('leader-elect-resource-lock'),
    as('leader-elect-resource-name', { default: 'cloud-controller-manager' }),
    as('leader-elect-resource-namespace'),
    as('leader-elect-retry-period'),
    unused('min-compatibility-version'),
    as('min-resync-period'),
    as('use-service-account-credentials'),
  ],
}

const cloud: FlagGroup = {
  title: 'Cloud',
  flags: [
    as('allocate-node-cidrs'),
    as('allow-untagged-cloud', {
      help: 'Deprecated: run with a provider whose resources carry no mark of this cluster.',
    }),
    as('cidr-allocator-type'),
    as('cloud-config', {
      help: 'Path of the configuration file of the cloud provider; its form is the provider’s.',
    }),
    as('cloud-provider', {
      help: 'Name of the cloud provider, which must be one that this program knows. Required; external is no provider.',
    }),
    as('cluster-cidr', {
      help: 'CIDR ranges of Pods, one or one of each family with a comma; needed for routes.',
    }),
    as('cluster-name', { help: "The provider's name for this cluster." }),
    as('configure-cloud-routes', {
      help: "Create routes to the Pods of each node in the cloud's network, where the provider has routes.",
    }),
    unused('external-cloud-volume-plugin'),
    as('node-monitor-period', {
      help: 'From one look at the machines of nodes that are not ready to the next.',
    }),
    unused('node-sync-period'),
    as('route-reconciliation-period', { help: 'Period for reconciling routes of nodes.' }),
  ],
}

const cloudNode = group('Cloud-node-controller', [
  ['concurrent-node-syncs', 'int', '1', 'Nodes initialized at the same time.'],
  [
    'concurrent-node-status-updates',
    'int',
    '0',
    'Nodes whose addresses are looked up at the same time; 0: as many as --concurrent-node-syncs.',
  ],
  [
    'node-status-update-frequency',
    'duration',
    '5m0s',
    'From one look at the addresses of all nodes to the next.',
  ],
])

const webhooks = group('Webhook', [
  [
    'webhooks',
    'strings',
    '',
    "Webhooks to serve: '*' all, 'foo' that one, '-foo' not that one. There are none in this program, and they need the gate CloudControllerManagerWebhook.",
  ],
])

const webhookServing = group('Webhook serving', [
  ['webhook-bind-address', 'ip', '0.0.0.0', 'Address to listen on for webhooks.'],
  [
    'webhook-cert-dir',
    'string',
    '',
    'Folder of cloud-controller-manager-webhook.crt and .key, written when absent; empty: made in memory. Unused with --webhook-tls-cert-file.',
  ],
  ['webhook-disable-http2-serving', 'bool', 'false', 'Serve webhooks by HTTP/1.1 only.'],
  [
    'webhook-secure-port',
    'int64',
    '10260',
    'HTTPS port of webhooks, other than --secure-port; 0 serves none and makes no certificate.',
  ],
  ['webhook-tls-cert-file', 'string', '', 'PEM certificate of the webhook server.'],
  ['webhook-tls-cipher-suites', 'strings', '', 'As --tls-cipher-suites, for webhooks.'],
  ['webhook-tls-curve-preferences', 'integers', '', 'As --tls-curve-preferences, for webhooks.'],
  ['webhook-tls-min-version', 'string', '', 'As --tls-min-version, for webhooks.'],
  ['webhook-tls-private-key-file', 'string', '', 'PEM key of the webhook server.'],
])

function ofController(title: string): FlagGroup {
  const { flags } = controllerFlags.find((found) => found.title === title)!
  return { title, flags: flags.map(({ name }) => as(name)) }
}

function serving(): FlagGroup {
  const [{ title, flags }] = groupsOf('Secure serving') as readonly [FlagGroup]
  const own: Readonly<Record<string, FlagDefinition>> = {
    'secure-port': as('secure-port', { default: '10258' }),
    'cert-dir': as('cert-dir', {
      help: 'Folder of cloud-controller-manager.crt and .key, written when absent; empty: made in memory. Unused with --tls-cert-file.',
    }),
  }
  return { title, flags: flags.map((flag) => own[flag.name] ?? flag) }
}

/** In the order of --help: what is asked for first stands first. */
export const cloudFlagGroups: readonly FlagGroup[] = [
  cloud,
  generic,
  ...groupsOf('Leader-migration', 'Debugging'),
  serving(),
  ...groupsOf('Authentication', 'Authorization'),
  cloudNode,
  ofController('Service-lb-controller'),
  ofController('Node-ipam-controller'),
  webhooks,
  webhookServing,
  ...groupsOf('Metrics', 'Logs', 'Misc'),
  {
    title: 'Global',
    flags: [as('help', { help: 'Help for cloud-controller-manager.' }), as('version')],
  },
]
