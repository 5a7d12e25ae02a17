/** Facts for the tables of the tests: a quiet cluster, an object of some kind, and what differs. */
import type { DiscoveredResource, UnstructuredObject } from '@gyropilot/api'
import type { ClusterFacts, Facts, Found, WebhookFact } from './facts.ts'

const NOW = '2026-01-02T03:04:05Z'
export const nowMs = Date.parse(NOW)

/** RFC 3339, so many seconds before the present of the tests. */
export function ago(seconds: number): string {
  return `${new Date(nowMs - seconds * 1000).toISOString().slice(0, 19)}Z`
}

/** `Pod`, `apps/Deployment`, `example.com/Widget`; a leading `*` for what has no namespace. */
export function kind(text: string): DiscoveredResource {
  const [group, name] = text.replace('*', '').includes('/')
    ? text.replace('*', '').split('/')
    : ['', text.replace('*', '')]
  const singular = name!.toLowerCase()
  return {
    group: group!,
    version: 'v1',
    resource: `${singular}s`,
    singular,
    kind: name!,
    namespaced: !text.startsWith('*'),
    shortNames: [],
    categories: [],
    verbs: ['get', 'list', 'delete'],
    subresources: [],
  }
}

export function found(type: string, name: string, fields: object = {}): Found {
  const { metadata, ...rest } = fields as UnstructuredObject
  const namespace = type.startsWith('*') ? {} : { namespace: 'shop' }
  return {
    type: kind(type),
    object: { metadata: { name, uid: `uid-${name}`, ...namespace, ...metadata }, ...rest },
  }
}

/** What a deletion of `seconds` ago leaves on an object. */
export function deleted(seconds: number, ...finalizers: readonly string[]): object {
  return { deletionTimestamp: ago(seconds), deletionGracePeriodSeconds: 0, finalizers }
}

export const quietCluster: ClusterFacts = {
  webhooks: [],
  failedGroups: new Map(),
  leases: [],
  workloads: [],
  unread: { webhooks: [], controllers: [] },
}

export function facts(about: Found, more: Partial<Facts> = {}): Facts {
  return {
    ...about,
    nowMs,
    owners: [],
    dependents: { found: [], failed: [] },
    contents: { found: [], failed: [] },
    related: { found: [], failed: [] },
    warnings: [],
    ...more,
    cluster: { ...quietCluster, ...more.cluster },
  }
}

/** Asked about every write of everything, with a service that does not exist. */
export function webhook(
  changes: Partial<WebhookFact['webhook']> = {},
  backend: WebhookFact['backend'] = 'no service',
): WebhookFact {
  return {
    configuration: 'guard',
    kind: 'ValidatingWebhookConfiguration',
    backend,
    webhook: {
      name: 'guard.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { service: { namespace: 'guards', name: 'guard' } },
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
      ...changes,
    },
  }
}
