/** Smallest valid objects for tests of this controller. */
import type { DiscoveredResource, Namespace, NamespaceCondition } from '@gyropilot/api'
import type { Discovered } from '@gyropilot/client'

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

/** A server with pods and config maps, deployments, something that cannot be deleted and something without namespace. */
export function discovered(): Discovered {
  const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'watch']
  const resource = (
    group: string,
    name: string,
    kind: string,
    given: Partial<DiscoveredResource> = {},
  ): DiscoveredResource => ({
    group,
    version: 'v1',
    resource: name,
    singular: kind.toLowerCase(),
    kind,
    namespaced: true,
    shortNames: [],
    categories: [],
    verbs,
    subresources: [],
    ...given,
  })
  return {
    resources: [
      resource('', 'configmaps', 'ConfigMap'),
      resource('', 'pods', 'Pod'),
      resource('', 'bindings', 'Binding', { verbs: ['create'] }),
      resource('', 'nodes', 'Node', { namespaced: false }),
      resource('apps', 'deployments', 'Deployment'),
    ],
    versions: new Map([
      ['', ['v1']],
      ['apps', ['v1']],
    ]),
    failed: new Map(),
  }
}
