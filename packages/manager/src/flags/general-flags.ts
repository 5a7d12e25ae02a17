/** Contract: docs/behaviour/runtime/manager.md, Flags. */
import { knownControllers } from '../controller-names.ts'
import { listedGates } from '../options/feature-gates.ts'
import { group } from './flag-group.ts'
import type { FlagGroup } from './flag-group.ts'

const all = knownControllers.map(({ name }) => name)
const offByDefault = knownControllers.filter((c) => !c.enabledByDefault).map(({ name }) => name)

const CONTROLLERS_HELP =
  "Controllers to run: '*' all that are on by default, 'foo' that one, '-foo' not that one; the first item that names a " +
  `controller wins, and old names are understood. All: ${all.join(', ')}. Off by default: ${offByDefault.join(', ')}.`

export const generalFlags: readonly FlagGroup[] = [
  group('Generic', [
    [
      'allocate-node-cidrs',
      'bool',
      'false',
      'Should CIDRs for Pods be allocated and set on the nodes.',
    ],
    [
      'allow-untagged-cloud',
      'bool',
      'false',
      'Deprecated: lets the cloud provider run without its tags.',
      'cloud providers are external',
    ],
    ['cidr-allocator-type', 'string', 'RangeAllocator', 'Type of CIDR allocator to use.'],
    [
      'cloud-config',
      'string',
      '',
      'Path of the cloud provider configuration file.',
      'cloud providers are external',
    ],
    ['cloud-provider', 'string', '', 'Empty for none, or external.'],
    [
      'cluster-cidr',
      'string',
      '',
      'CIDR range of Pods in the cluster; needs --allocate-node-cidrs.',
    ],
    ['cluster-name', 'string', 'kubernetes', 'The instance prefix of the cluster.'],
    [
      'configure-cloud-routes',
      'bool',
      'true',
      'Should routes for allocated CIDRs be configured on the cloud.',
      'cloud loops run in cloud-controller-manager',
    ],
    [
      'controller-shutdown-timeout',
      'duration',
      '10s',
      'How long controllers may take to stop; 0 waits for ever.',
    ],
    ['controller-start-interval', 'duration', '0s', 'Interval between starting controllers.'],
    ['controllers', 'strings', '*', CONTROLLERS_HELP],
    [
      'emulated-version',
      'strings',
      '',
      'Version to emulate, kube=1.33..1.36 (default: 1.36).',
      'the loops are those of 1.36',
    ],
    [
      'external-cloud-volume-plugin',
      'string',
      '',
      'The in-tree plugin to use with an external cloud provider.',
      'no in-tree volume plugins',
    ],
    [
      'feature-gates',
      'mapStringBool',
      '',
      `Feature gates: pairs of name and true or false, Name=true,Other=false, with kube: before all names or before none; repeatable. /metrics shows them as kubernetes_feature_enabled. Options are:\n${listedGates.join('\n')}`,
    ],
    ['kube-api-burst', 'int', '30', 'Burst of requests to the API server, per client.'],
    [
      'kube-api-content-type',
      'string',
      'application/vnd.kubernetes.protobuf',
      'Content type of requests to the API server.',
      'JSON is sent, which every server accepts',
    ],
    ['kube-api-qps', 'float32', '20', 'Requests per second to the API server, per client.'],
    ['leader-elect', 'bool', 'true', 'Gain leadership before running the loops.'],
    [
      'leader-elect-lease-duration',
      'duration',
      '15s',
      'How long others wait before they take an unrenewed lease.',
    ],
    [
      'leader-elect-renew-deadline',
      'duration',
      '10s',
      'How long the leader retries renewing before it gives up.',
    ],
    ['leader-elect-resource-lock', 'string', 'leases', 'Kind of the lock object.'],
    ['leader-elect-resource-name', 'string', 'kube-controller-manager', 'Name of the lock object.'],
    ['leader-elect-resource-namespace', 'string', 'kube-system', 'Namespace of the lock object.'],
    [
      'leader-elect-retry-period',
      'duration',
      '2s',
      'How long to wait between tries to take or renew the lease.',
    ],
    [
      'min-compatibility-version',
      'strings',
      '',
      'Oldest version of the control plane this manager must stay compatible with, kube=1.33..1.36 (default: 1.35).',
      'the loops are those of 1.36',
    ],
    [
      'min-resync-period',
      'duration',
      '12h',
      'Resync period of reflectors: random between it and twice it.',
    ],
    ['node-monitor-period', 'duration', '5s', 'Period for looking at nodes.'],
    ['node-sync-period', 'duration', '0s', 'Deprecated, without effect.', 'deprecated upstream'],
    [
      'route-reconciliation-period',
      'duration',
      '10s',
      'Period for reconciling routes of nodes.',
      'cloud loops run in cloud-controller-manager',
    ],
    [
      'use-service-account-credentials',
      'bool',
      'false',
      'Use individual service account credentials for each controller.',
    ],
  ]),
  group('Leader-migration', [
    ['enable-leader-migration', 'bool', 'false', 'Take part in leader migration between managers.'],
    [
      'leader-migration-config',
      'string',
      '',
      'Path of the leader migration file; empty uses the default.',
    ],
  ]),
  group('Debugging', [
    ['contention-profiling', 'bool', 'false', 'Block profiling.', 'Go profiles do not exist here'],
    ['profiling', 'bool', 'true', 'Profiling over /debug/pprof.', 'Go profiles do not exist here'],
  ]),
  group('Metrics', [
    [
      'allow-metric-labels',
      'stringToString',
      '',
      "Values that a metric's label may have, metric,label=value,value; others are shown as unexpected. One use for each.",
    ],
    [
      'allow-metric-labels-manifest',
      'string',
      '',
      'YAML file that is the same mapping, instead of --allow-metric-labels.',
    ],
    ['disabled-metrics', 'strings', '', 'Full names of metrics that are not exposed.'],
    [
      'show-hidden-metrics-for-version',
      'string',
      '',
      'Show metrics that were hidden since this version: 1.35, or empty. None of these loops is hidden.',
    ],
  ]),
  group('Logs', [
    [
      'log-flush-frequency',
      'duration',
      '5s',
      'Longest time between log flushes.',
      'every line is written at once',
    ],
    [
      'log-json-info-buffer-size',
      'quantity',
      '0',
      'Buffer of info lines in JSON.',
      'every line is written at once',
    ],
    ['log-json-split-stream', 'bool', 'false', 'Errors to stderr, info to stdout, in JSON.'],
    [
      'log-text-info-buffer-size',
      'quantity',
      '0',
      'Buffer of info lines in text.',
      'every line is written at once',
    ],
    ['log-text-split-stream', 'bool', 'false', 'Errors to stderr, info to stdout, in text.'],
    ['logging-format', 'string', 'text', 'text or json.'],
    [
      'v',
      'uint',
      '0',
      'Log verbosity: 0 what an operator needs, 2 changes of state, 4 debugging, 6 and more every request. PUT /debug/flags/v changes it at run time.',
    ],
    [
      'vmodule',
      'modules',
      '',
      "Verbosity by logger, pairs of pattern and level: 'deployment*=5'. Text format only.",
    ],
  ]),
  group('Misc', [
    ['kubeconfig', 'string', '', 'Kubeconfig with authorization and master location.'],
    ['master', 'string', '', 'Address of the API server; overrides the kubeconfig.'],
  ]),
  group('Global', [
    ['help', 'bool', 'false', 'Help for kube-controller-manager.'],
    [
      'version',
      'optionalString',
      '',
      '--version prints the version and ends; --version=raw prints all of it.',
    ],
  ]),
]
