/**
 * Group metrics.k8s.io, as metrics-server serves it behind kube-apiserver: what `kubectl top` and autoscalers read. Asked of
 * the kubelets at each read, never stored; served only once there are nodes to ask.
 */
import { parseFieldQuery, parseLabelQuery } from '@gyropilot/api'
import { formatTime } from '@gyropilot/foundation'
import type { ResourceInfo, SubresourceCall, SubresourceHandler } from '../contracts.ts'
import { notFound } from '../http/errors.ts'
import type { PrinterColumn } from '../registry/kind-rules.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../registry/resource-registry.ts'
import type { Kubelets, Usage } from '../kubelets/kubelet.ts'

const GROUP = 'metrics.k8s.io'
const VERSION = 'v1beta1'
const API_VERSION = `${GROUP}/${VERSION}`
/** Over which usage is said to be measured. */
const WINDOW = '15s'

const COLUMNS: readonly PrinterColumn[] = [
  column('Name', 'name', (object) => object['metadata'].name),
  column('cpu', '', (object) => totalOf(object, 'cpu')),
  column('memory', '', (object) => totalOf(object, 'memory')),
  column('Window', '', (object) => object['window']),
]

/**
 * Handlers of their own: where nothing is served under this group yet, a definition may bring the resources, which are stored
 * as any others then.
 */
export function resourceMetrics(kubelets: Kubelets): readonly ServedResource[] {
  return [
    served('nodes', 'NodeMetrics', false, (call) => nodeMetrics(call, kubelets)),
    served('pods', 'PodMetrics', true, (call) => podMetrics(call, kubelets)),
  ]
}

type Read = (call: SubresourceCall) => readonly Stored[]

function served(resource: string, kind: string, namespaced: boolean, read: Read): ServedResource {
  const info: ResourceInfo = {
    group: GROUP,
    version: VERSION,
    resource,
    singular: '',
    kind,
    namespaced,
    shortNames: [],
    categories: [],
    verbs: ['get', 'list'],
    subresources: [],
  }
  return {
    info,
    rules: { group: GROUP, kind },
    storage: { collection: `${resource}.${GROUP}`, apiVersion: API_VERSION },
    // Its definitions come from outside, like those of custom resources.
    custom: true,
    listKind: `${kind}List`,
    hasStatus: false,
    virtual: false,
    columns: COLUMNS,
    subresources: [handler(resource, read)],
  }
}

function column(
  name: string,
  format: '' | 'name',
  cell: (object: Stored) => string,
): PrinterColumn {
  return { name, type: 'string', format, description: name, cell }
}

function totalOf(object: Stored, resource: 'cpu' | 'memory'): string {
  const usages: Stored[] = object['usage']
    ? [object['usage']]
    : object['containers'].map(({ usage }: Stored) => usage)
  const sum = usages.reduce((total, usage) => total + Number.parseInt(usage[resource], 10), 0)
  return `${sum}${resource === 'cpu' ? 'n' : 'Ki'}`
}

function handler(resource: string, read: Read): SubresourceHandler {
  return {
    group: GROUP,
    resource,
    subresource: '',
    methods: ['GET'],
    async handle(call) {
      const { kind } = call.resource
      const selector = parseLabelQuery(call.query.get('labelSelector') ?? '')
      const fields = parseFieldQuery(call.query.get('fieldSelector') ?? '')
      const items = read(call).filter(
        ({ metadata }) =>
          (call.name === '' || metadata.name === call.name) &&
          selector.matches(metadata.labels ?? {}) &&
          fields.matches((field) => String(fieldsOf(metadata)[field] ?? '')),
      )
      if (call.name !== '') {
        if (items.length === 0) throw notFound(call.resource, call.name)
        return { code: 200, body: { kind, apiVersion: API_VERSION, ...items[0] } }
      }
      const body = { kind: `${kind}List`, apiVersion: API_VERSION, metadata: {}, items }
      return { code: 200, body }
    },
  }
}

const fieldsOf = ({ name, namespace }: Stored): Readonly<Record<string, unknown>> => ({
  'metadata.name': name,
  'metadata.namespace': namespace,
})

function nodeMetrics(call: SubresourceCall, kubelets: Kubelets): readonly Stored[] {
  return call.server.list('', 'nodes').flatMap((node) => {
    const kubelet = kubelets.kubeletOf(node['metadata'].name)
    return kubelet === undefined
      ? []
      : [{ ...headOf(node, call.nowMs), usage: quantities(kubelet.usage().node) }]
  })
}

function podMetrics(call: SubresourceCall, kubelets: Kubelets): readonly Stored[] {
  const found: Stored[] = []
  for (const node of call.server.list('', 'nodes')) {
    for (const pod of kubelets.kubeletOf(node['metadata'].name)?.usage().pods ?? []) {
      if (call.namespace !== '' && pod.namespace !== call.namespace) continue
      const stored = call.server.get('', 'pods', pod.namespace, pod.name)
      if (stored === undefined) continue
      const containers = pod.containers.map(({ name, ...usage }) => ({
        name,
        usage: quantities(usage),
      }))
      found.push({ ...headOf(stored, call.nowMs), containers })
    }
  }
  const key = ({ metadata }: Stored): string => `${metadata.namespace}/${metadata.name}`
  return found.sort((a, b) => (key(a) < key(b) ? -1 : 1))
}

function headOf({ metadata }: Stored, nowMs: number): Stored {
  const { name, namespace, labels } = metadata
  const now = formatTime(nowMs)
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      creationTimestamp: now,
      ...(labels === undefined ? {} : { labels }),
    },
    timestamp: now,
    window: WINDOW,
  }
}

function quantities({ cpuNanoCores, memoryBytes }: Usage): { cpu: string; memory: string } {
  return { cpu: `${cpuNanoCores}n`, memory: `${Math.round(memoryBytes / 1024)}Ki` }
}
