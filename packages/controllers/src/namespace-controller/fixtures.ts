/** Smallest valid objects for tests of this controller. */
import type { Namespace, NamespaceCondition } from '@gyropilot/api'

export function terminating(
  given: {
    finalizers?: readonly string[]
    phase?: 'Active' | 'Terminating'
    conditions?: readonly NamespaceCondition[]
  } = {},
): Namespace {
  const { finalizers = ['kubernetes'], phase = 'Terminating', conditions } = given
  return {
    metadata: {
      name: 'ns1',
      uid: 'uid-1',
      resourceVersion: '7',
      deletionTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { finalizers },
    status: { phase, ...(conditions === undefined ? {} : { conditions }) },
  }
}

/** Aggregated discovery of pods in the core group and deployments in apps. */
export function discoveryDocuments(): Readonly<Record<string, object>> {
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'watch']
  const namespaced = (resource: string, kind: string) => ({
    resource,
    scope: 'Namespaced',
    verbs,
    responseKind: { kind },
  })
  return {
    '/api': {
      items: [
        {
          metadata: {},
          versions: [
            {
              version: 'v1',
              resources: [
                namespaced('configmaps', 'ConfigMap'),
                namespaced('pods', 'Pod'),
                { ...namespaced('bindings', 'Binding'), verbs: ['create'] },
                { ...namespaced('nodes', 'Node'), scope: 'Cluster' },
              ],
            },
          ],
        },
      ],
    },
    '/apis': {
      items: [
        {
          metadata: { name: 'apps' },
          versions: [{ version: 'v1', resources: [namespaced('deployments', 'Deployment')] }],
        },
      ],
    },
  }
}
