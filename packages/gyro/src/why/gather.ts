/** What has to be read to explain one object. Only reads. */
import type { DiscoveredResource, OwnerReference, Pod, UnstructuredObject } from '@gyropilot/api'
import { isTerminating } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { errorText } from '@gyropilot/foundation'
import type { ClusterReader } from './cluster-reader.ts'
import type { Facts, Found, Listing, OwnerFact } from './facts.ts'
import { knownFinalizer } from './known-finalizers.ts'

const NOTHING: Listing = { found: [], failed: [] }
const MOST_WARNINGS = 2
const COLLECTED = ['foregroundDeletion', 'orphan']
const DEFINITIONS = 'customresourcedefinitions'

export async function gather(
  cluster: ClusterReader,
  { type, object }: Found,
  nowMs: number,
): Promise<Facts> {
  const [namespace, node, owners, dependents, contents, related, warnings, ofCluster] =
    await Promise.all([
      namespaceOf(cluster, object),
      nodeOf(cluster, { type, object }),
      ownersOf(cluster, object),
      dependentsOf(cluster, object),
      contentsOf(cluster, { type, object }),
      relatedTo(cluster, object),
      warningsAbout(cluster, object),
      clusterFacts(cluster, object),
    ])
  return {
    type,
    object,
    nowMs,
    cluster: ofCluster,
    namespace,
    node,
    owners,
    dependents,
    contents,
    related,
    warnings,
  }
}

async function clusterFacts(
  cluster: ClusterReader,
  object: UnstructuredObject,
): Promise<Facts['cluster']> {
  const isUnknown = finalizersOf(object).some((name) => knownFinalizer(name) === undefined)
  const [webhooks, failedGroups, leases, workloads] = await Promise.all([
    cluster.webhooks(),
    cluster.failedGroups(),
    cluster.leases(),
    isUnknown ? cluster.workloads() : { items: [], failed: [] },
  ])
  return {
    webhooks: webhooks.items,
    failedGroups,
    leases: leases.items,
    workloads: workloads.items,
    unread: { webhooks: webhooks.failed, controllers: [...workloads.failed, ...leases.failed] },
  }
}

const finalizersOf = (object: UnstructuredObject): readonly string[] =>
  object.metadata?.finalizers ?? []

async function namespaceOf(
  cluster: ClusterReader,
  { metadata }: UnstructuredObject,
): Promise<UnstructuredObject | undefined> {
  return metadata?.namespace ? cluster.find('', 'namespaces', metadata.namespace) : undefined
}

async function nodeOf(cluster: ClusterReader, { type, object }: Found): Promise<Facts['node']> {
  const { spec } = object as Pod
  const nodes = cluster.lookup.forResource('', 'nodes')
  if (type.resource !== 'pods' || type.group !== '' || !spec?.nodeName || nodes === undefined)
    return undefined
  try {
    return await cluster.get(nodes, spec.nodeName)
  } catch (error) {
    return isNotFound(error) ? 'missing' : undefined
  }
}

async function ownersOf(
  cluster: ClusterReader,
  { metadata }: UnstructuredObject,
): Promise<readonly OwnerFact[]> {
  const references = metadata?.ownerReferences ?? []
  return Promise.all(
    references.map(async (reference): Promise<OwnerFact> => {
      const owner = await ownerState(cluster, reference, metadata?.namespace)
      return { reference, owner }
    }),
  )
}

async function ownerState(
  cluster: ClusterReader,
  reference: OwnerReference,
  namespace: string | undefined,
): Promise<OwnerFact['owner']> {
  const [group, version] = reference.apiVersion.includes('/')
    ? reference.apiVersion.split('/')
    : ['', reference.apiVersion]
  const kind = cluster.lookup.forKind(group!, reference.kind, version!)
  const type = kind && cluster.lookup.forResource(group!, kind.resource, version!)
  if (type === undefined) return { state: 'unknown kind' }
  if (type.namespaced && !namespace) return { state: 'no namespace' }
  try {
    const object = await cluster.get(type, reference.name, namespace)
    if (object.metadata?.uid !== reference.uid) return { state: 'gone' }
    return { state: 'there', found: { type, object } }
  } catch (error) {
    return isNotFound(error) ? { state: 'gone' } : { state: 'unreadable', reason: errorText(error) }
  }
}

/** Every kind is looked through, so only when the garbage collector's finalizers are there. */
async function dependentsOf(cluster: ClusterReader, object: UnstructuredObject): Promise<Listing> {
  const { uid, namespace } = object.metadata ?? {}
  if (!isTerminating(object) || !finalizersOf(object).some((name) => COLLECTED.includes(name)))
    return NOTHING
  // Dependents of a namespaced owner live in its namespace; the garbage collector leaves events alone.
  const types = cluster
    .deletable()
    .filter((type) => type.resource !== 'events' && (type.namespaced || !namespace))
  const { found, failed } = await cluster.listEach(types, { namespace, metadataOnly: true })
  const isDependent = ({ object: { metadata } }: Found): boolean =>
    metadata?.ownerReferences?.some((owner) => owner.uid === uid) ?? false
  return { found: found.filter(isDependent), failed }
}

async function contentsOf(cluster: ClusterReader, { type, object }: Found): Promise<Listing> {
  if (!isTerminating(object)) return NOTHING
  if (type.kind === 'Namespace' && type.group === '') {
    // The same events are served by two groups.
    const types = cluster
      .deletable()
      .filter(({ namespaced, group }) => namespaced && group !== 'events.k8s.io')
    return cluster.listEach(types, { namespace: object.metadata?.name, metadataOnly: true })
  }
  if (type.resource !== DEFINITIONS) return NOTHING
  const { group = '', names } = (object['spec'] ?? {}) as DefinitionSpec
  const own = cluster.lookup.forResource(group, names?.plural ?? '')
  return own === undefined ? NOTHING : cluster.list(own, { metadataOnly: true })
}

interface DefinitionSpec {
  readonly group?: string
  readonly names?: { readonly plural?: string }
}

async function relatedTo(cluster: ClusterReader, object: UnstructuredObject): Promise<Listing> {
  if (!isTerminating(object)) return NOTHING
  const reads = finalizersOf(object).flatMap((name) => knownFinalizer(name)?.reads ?? [])
  const types = new Set<DiscoveredResource>()
  for (const { group, resource } of reads) {
    const type = cluster.lookup.forResource(group, resource)
    if (type !== undefined) types.add(type)
  }
  return cluster.listEach([...types], { namespace: object.metadata?.namespace })
}

async function warningsAbout(
  cluster: ClusterReader,
  { metadata }: UnstructuredObject,
): Promise<readonly string[]> {
  const events = cluster.lookup.forResource('', 'events')
  if (events === undefined || metadata?.uid === undefined) return []
  const { found } = await cluster.list(events, {
    // Events about what has no namespace are in the namespace default.
    namespace: metadata.namespace || 'default',
    fieldSelector: `involvedObject.uid=${metadata.uid},type=Warning`,
  })
  const told = found.map(({ object }) => object as WarningEvent)
  const at = (event: WarningEvent): string =>
    event.lastTimestamp ?? event.eventTime ?? event.metadata?.creationTimestamp ?? ''
  const newestFirst = told.toSorted((a, b) => (at(a) < at(b) ? 1 : -1))
  return newestFirst
    .slice(0, MOST_WARNINGS)
    .map((event) => `${event.reason ?? ''}: ${event.message ?? ''} (${at(event)})`)
}

interface WarningEvent extends UnstructuredObject {
  readonly reason?: string
  readonly message?: string
  readonly lastTimestamp?: string
  readonly eventTime?: string
}
