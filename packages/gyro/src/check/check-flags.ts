/** The flags of `gyro check`. Pure. */
import type { FlagDefinition } from '@gyropilot/manager/flags'

export const checkFlags: readonly FlagDefinition[] = [
  {
    name: 'namespace',
    shorthand: 'n',
    type: 'string',
    default: 'default',
    help: 'Namespace of the manifests that name none.',
  },
  {
    name: 'pod-security',
    type: 'string',
    values: ['privileged', 'baseline', 'restricted'],
    default: 'privileged',
    help: 'Pod security level of namespaces without such labels: privileged, baseline or restricted. Pods that break it are refused; workloads whose pods would are warned of.',
  },
  {
    name: 'ignore-missing-kinds',
    type: 'bool',
    default: 'false',
    help: 'Leave out objects whose kind neither Kubernetes nor a CustomResourceDefinition in the input knows, instead of refusing them.',
  },
  {
    name: 'warnings-as-errors',
    type: 'bool',
    default: 'false',
    help: 'End with exit code 1 also when there are only warnings.',
  },
  {
    name: 'service-cluster-ip-range',
    type: 'string',
    default: '0.0.0.0/0,::/0',
    help: 'Addresses that a Service may ask for, as of kube-apiserver. The first family is the one that the cluster has by default.',
  },
  {
    name: 'output',
    shorthand: 'o',
    type: 'string',
    values: ['text', 'json', 'github'],
    default: 'text',
    help: 'text: a line for each finding; json: one object; github: annotations of a workflow.',
  },
  { name: 'help', shorthand: 'h', type: 'bool', default: 'false', help: 'Help for gyro check.' },
]
