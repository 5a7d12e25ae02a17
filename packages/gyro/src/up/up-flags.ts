/** The flags of `gyro up`. Pure. */
import type { IpFamily } from '@gyropilot/cluster/live'
import type { FlagDefinition } from '@gyropilot/manager/flags'
import { cloudProviders } from './cloud/providers.ts'

/** Of simulated nodes in one cluster. */
export const MOST_NODES = 5_000

export const COMPONENTS = [
  'api-server',
  'controller-manager',
  'scheduler',
  'nodes',
  'storage',
] as const
export type Component = (typeof COMPONENTS)[number]

export const IP_FAMILIES: readonly IpFamily[] = ['ipv4', 'ipv6', 'dual']

export const upFlags: readonly FlagDefinition[] = [
  {
    name: 'port',
    type: 'int',
    default: '6443',
    help: 'HTTPS port of the API server on 127.0.0.1; 0 picks a free one. Not given and taken, the next free one, which the folder then keeps. A data directory keeps the one it had.',
  },
  {
    name: 'bind-address',
    type: 'string',
    default: '127.0.0.1',
    help: 'Address the API server listens on. With 0.0.0.0 or :: its certificate names this machine and the addresses of its interfaces.',
  },
  {
    name: 'kubeconfig',
    type: 'string',
    default: '',
    help: 'File the kubeconfig is written to (default .gyropilot/kubeconfig here). Without the api-server component, required: the kubeconfig of the cluster to join.',
  },
  {
    name: 'merge-kubeconfig',
    type: 'bool',
    default: 'false',
    help: 'Also put the cluster into ~/.kube/config, or the file of KUBECONFIG, as current context gyro-FOLDER; taken out again when it ends.',
  },
  {
    name: 'detach',
    shorthand: 'd',
    type: 'bool',
    default: 'false',
    help: 'Return when the cluster is ready and let it run: gyro down stops it.',
  },
  {
    name: 'data-dir',
    type: 'string',
    default: '',
    help: 'Folder that keeps the cluster: what was answered with success survives a crash. Empty: memory only.',
  },
  { name: 'nodes', type: 'int', default: '3', help: 'Simulated nodes.' },
  {
    name: 'ip-family',
    type: 'string',
    values: IP_FAMILIES,
    default: 'ipv4',
    help: 'Addresses of pods, nodes and Services: ipv4, ipv6, or dual for one of each, as in clusters of both. A data directory keeps the one it had.',
  },
  {
    name: 'components',
    type: 'strings',
    default: COMPONENTS.join(','),
    help: `What to run, of ${COMPONENTS.join(', ')}.`,
  },
  {
    name: 'managers',
    type: 'int',
    default: '1',
    help: 'Controller managers. 1 runs in this process; more, and those that join a cluster, run as processes that elect a leader, with the three flags below.',
  },
  {
    name: 'leader-elect-lease-duration',
    type: 'duration',
    default: '15s',
    help: "As kube-controller-manager's flag. A killed leader is replaced within this and the retry period: 17 s, or 5.5 s with 5s, 3s and 500ms.",
  },
  {
    name: 'leader-elect-renew-deadline',
    type: 'duration',
    default: '10s',
    help: "As kube-controller-manager's flag; less than the lease duration.",
  },
  {
    name: 'leader-elect-retry-period',
    type: 'duration',
    default: '2s',
    help: "As kube-controller-manager's flag; less than the renew deadline / 1.2.",
  },
  {
    name: 'cloud',
    type: 'string',
    values: cloudProviders().names,
    default: '',
    help: `Cloud provider of the cluster, whose loops then run too: nodes wait for it, Services of type LoadBalancer get an address. Of ${cloudProviders().names.join(', ')}. Empty: none.`,
  },
  {
    name: 'cloud-config',
    type: 'string',
    default: '',
    help: 'Configuration file of the cloud provider; its form is the provider’s.',
  },
  {
    name: 'controllers',
    type: 'strings',
    default: '*,bootstrapsigner,tokencleaner',
    help: "As kube-controller-manager's flag of this name; the default is kubeadm's.",
  },
  {
    name: 'runtime-config',
    type: 'strings',
    default: '',
    help: "As kube-apiserver's flag, for versions that are not served by default: coordination.k8s.io/v1beta1=true serves LeaseCandidate, and the API server elects leaders; certificates.k8s.io/v1beta1=true, internal.apiserver.k8s.io/v1alpha1=true, resource.k8s.io/v1beta2=true, resource.k8s.io/v1alpha3=true, scheduling.k8s.io/v1alpha2=true and storagemigration.k8s.io/v1beta1=true serve ClusterTrustBundle and PodCertificateRequest, StorageVersion, DeviceTaintRule, ResourcePoolStatusRequest, PodGroup and Workload, and StorageVersionMigration, most with their gates. api/all=true, api/beta=true and api/alpha=true serve all such versions, also those before v1 of kinds that have a v1.",
  },
  {
    name: 'feature-gates',
    type: 'mapStringBool',
    default: '',
    help: "As kube-controller-manager's flag, for controllers and API server: MaxUnavailableStatefulSet=true lets several pods of a StatefulSet be renewed at once. Of the API server those that guard fields count.",
  },
  {
    name: 'token',
    type: 'string',
    default: '',
    help: 'Bearer token of the administrator. Default: a random one.',
  },
  {
    name: 'output',
    type: 'string',
    values: ['text', 'json'],
    default: 'text',
    help: 'text, or json: one object per line.',
  },
  {
    name: 'v',
    shorthand: 'v',
    type: 'int',
    default: '0',
    help: 'Log verbosity; logs go to stderr.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro up.' },
]
