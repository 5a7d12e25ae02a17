/** Smallest objects, and a collector that knows a few kinds, for tests of the graph and of the rules. */
import { apiVersionOf, resources } from '@gyropilot/api'
import type { KubernetesObject, OwnerReference, ResourceType } from '@gyropilot/api'
import type { Outcome } from '@gyropilot/runtime'
import { statusError } from '@gyropilot/runtime/testing'
import { AbsentOwners } from './graph/absent-owners.ts'
import type { Collector } from './attempt-to-delete.ts'
import { DependencyGraph } from './graph/dependency-graph.ts'
import type { Consequences } from './graph/dependency-graph.ts'
import { identityOf } from './graph/identity.ts'
import type { ObjectIdentity } from './graph/identity.ts'
import { OrphanedOwners } from './orphaned-owners.ts'
import { Looks } from './unseen-dependents.ts'

interface GivenObject {
  readonly kind?: string
  readonly apiVersion?: string
  /** Empty: cluster-scoped. */
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly owners?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
  readonly deleting?: boolean
}

/** A pod in `ns1`; its uid is `<name>-uid`. */
export function object(name: string, given: GivenObject = {}): KubernetesObject {
  const { kind = 'Pod', apiVersion = 'v1', namespace = 'ns1', uid = `${name}-uid` } = given
  const { owners, finalizers, deleting, resourceVersion = '1' } = given
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === '' ? {} : { namespace }),
      uid,
      resourceVersion,
      ...(owners && { ownerReferences: owners }),
      ...(finalizers && { finalizers }),
      ...(deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    },
  }
}

/** A reference to the ReplicationController `name` with the uid `<name>-uid`. */
export function ref(name: string, given: Partial<OwnerReference> = {}): OwnerReference {
  return { apiVersion: 'v1', kind: 'ReplicationController', name, uid: `${name}-uid`, ...given }
}

export const blocking = (name: string, given: Partial<OwnerReference> = {}): OwnerReference =>
  ref(name, { ...given, blockOwnerDeletion: true })

export const owner = (name: string, given: GivenObject = {}): KubernetesObject =>
  object(name, { kind: 'ReplicationController', ...given })

export function identity(of: KubernetesObject): ObjectIdentity {
  return identityOf(of, { apiVersion: of.apiVersion ?? '', kind: of.kind ?? '' })
}

export class TestGraph {
  readonly absentOwners = new AbsentOwners(500)
  readonly graph = new DependencyGraph(this.absentOwners)

  add(added: KubernetesObject): Consequences {
    return this.graph.process({ kind: 'add', identity: identity(added), object: added })
  }

  update(previous: KubernetesObject, current: KubernetesObject): Consequences {
    return this.graph.process({
      kind: 'update',
      identity: identity(current),
      object: current,
      previous,
    })
  }

  delete(deleted: KubernetesObject): Consequences {
    return this.graph.process({ kind: 'delete', identity: identity(deleted) })
  }

  absent(absent: ObjectIdentity): Consequences {
    return this.graph.process({ kind: 'virtual-delete', identity: absent })
  }

  node(name: string) {
    const node = this.graph.get(`${name}-uid`)
    if (node === undefined) throw new Error(`${name} is not in the graph`)
    return node
  }

  has(name: string): boolean {
    return this.graph.get(`${name}-uid`) !== undefined
  }
}

/** The names of nodes, in order. */
export function names(nodes: Iterable<{ readonly identity: ObjectIdentity }>): string[] {
  return [...nodes].map(({ identity: { name } }) => name)
}

const WIDGETS_V1: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
}
const KINDS: readonly ResourceType[] = [
  resources.pods,
  resources.nodes,
  resources.replicationcontrollers,
  resources.replicasets,
  WIDGETS_V1,
  { ...WIDGETS_V1, version: 'v1beta1' },
]

export function testCollector(
  graph: TestGraph,
  given: {
    cached?: readonly KubernetesObject[]
    /** Of every cache. */
    seenVersion?: string
    looks?: Looks
    orphanedOwners?: OrphanedOwners
  } = {},
): Collector {
  return {
    graph: graph.graph,
    absentOwners: graph.absentOwners,
    typeOf: ({ apiVersion, kind }) =>
      KINDS.find((type) => type.kind === kind && apiVersionOf(type) === apiVersion),
    cached: (type, namespace, name) =>
      given.cached?.find(
        ({ kind, metadata }) =>
          kind === type.kind && metadata?.namespace === namespace && metadata?.name === name,
      ),
    cachedIn: (type, namespace) =>
      given.cached?.filter(
        ({ kind, metadata }) => kind === type.kind && metadata?.namespace === namespace,
      ) ?? [],
    seenVersion: () => given.seenVersion ?? '',
    looks: given.looks ?? new Looks(),
    orphanedOwners: given.orphanedOwners ?? new OrphanedOwners(10),
  }
}

export const found = (answer: KubernetesObject): Outcome => ({ ok: true, object: answer })
export const listed = (
  items: readonly KubernetesObject[],
  metadata: {
    readonly resourceVersion?: string
    readonly continue?: string
    readonly remainingItemCount?: number
  } = {},
): Outcome => ({ ok: true, object: { metadata, items } as KubernetesObject })
export const refused = (code: number, reason: string): Outcome => ({
  ok: false,
  error: statusError(code, reason),
  attempted: true,
})
export const NOT_FOUND = refused(404, 'NotFound')
export const CONFLICT = refused(409, 'Conflict')
export const UNSUPPORTED_MEDIA_TYPE = refused(415, 'UnsupportedMediaType')
