/**
 * What is in force before anything is judged: the namespaces, definitions, classes and policies of the whole input, and stand-ins for
 * what a cluster would have besides. Webhooks are never stored, so nobody calls them.
 */
import type { ResourceInfo } from '@gyropilot/api-server'
import type { Draft } from '@gyropilot/schema/objects'
import type { CheckingServer } from './checking-server.ts'
import { findingAt, objectNameOf } from './manifest.ts'
import type { Manifest } from './manifest.ts'
import type { Finding } from './findings.ts'

export interface Surroundings {
  /** Definitions that do not come into force, by `group/Kind`: their objects cannot be judged. */
  readonly brokenDefinitions: ReadonlyMap<string, Manifest>
  readonly findings: readonly Finding[]
}

const DEFINITIONS = 'apiextensions.k8s.io'
const POLICIES = 'admissionregistration.k8s.io'
/** Read by admission. In this order: nothing is refused for what comes behind it. */
const IN_FORCE: readonly (readonly [group: string, kind: string])[] = [
  ['', 'ServiceAccount'],
  ['', 'LimitRange'],
  ['scheduling.k8s.io', 'PriorityClass'],
  ['node.k8s.io', 'RuntimeClass'],
  ['storage.k8s.io', 'StorageClass'],
  ['networking.k8s.io', 'IngressClass'],
]
const POLICY_KINDS = ['MutatingAdmissionPolicy', 'ValidatingAdmissionPolicy']

export async function setUp(
  server: CheckingServer,
  manifests: readonly Manifest[],
  defaultNamespace: string,
): Promise<Surroundings> {
  const of = (group: string, kind: string): Manifest[] =>
    manifests.filter((manifest) => manifest.group === group && manifest.kind === kind)
  const store = (stored: readonly Manifest[]): Promise<void> =>
    storeAll(server, stored, defaultNamespace)
  await store(of('', 'Namespace'))
  const broken = await storeDefinitions(server, of(DEFINITIONS, 'CustomResourceDefinition'))
  await standInNamespaces(server, manifests, defaultNamespace)
  for (const [group, kind] of IN_FORCE) await store(of(group, kind))
  const policies = POLICY_KINDS.flatMap((kind) => of(POLICIES, kind))
  await store(parametersOf(policies, manifests))
  await store(policies)
  for (const kind of POLICY_KINDS) await store(of(POLICIES, `${kind}Binding`))
  return broken
}

async function storeAll(
  server: CheckingServer,
  manifests: readonly Manifest[],
  defaultNamespace: string,
): Promise<void> {
  for (const { group, version, kind, namespace, object } of manifests) {
    const info = server.resourceOf(group, version, kind)
    if (info !== undefined) await server.store(info, namespace || defaultNamespace, object)
  }
}

/** Objects of one definition in several versions would be converted by a webhook: nobody is there to ask, and each is judged in its own. */
async function storeDefinitions(
  server: CheckingServer,
  definitions: readonly Manifest[],
): Promise<Surroundings> {
  const brokenDefinitions = new Map<string, Manifest>()
  const stored: Manifest[] = []
  for (const definition of definitions) {
    const { group, version, kind, object } = definition
    const info = server.resourceOf(group, version, kind)
    if (info === undefined) continue
    const { conversion: _, ...spec } = (object['spec'] ?? {}) as Draft
    if (await server.store(info, '', { ...object, spec })) stored.push(definition)
    else
      brokenDefinitions.set(
        `${spec['group']}/${(spec['names'] as Draft | null)?.['kind']}`,
        definition,
      )
  }
  await server.definitionsSettled()
  const findings = stored.flatMap((definition) => nameConflicts(server, definition))
  return { brokenDefinitions, findings }
}

/** The server accepts such a definition, and never serves it. */
function nameConflicts(server: CheckingServer, definition: Manifest): Finding[] {
  const object = server.stored(DEFINITIONS, 'customresourcedefinitions', '', definition.name)
  const conditions = (object?.['status']?.conditions ?? []) as Draft[]
  const refused = conditions.find(
    ({ type, status }) => type === 'NamesAccepted' && status === 'False',
  )
  if (refused === undefined) return []
  const message = `names are not accepted, and the kind is not served: ${refused['message']}`
  const content = { severity: 'error', message, field: 'spec.names' } as const
  const reason = String(refused['reason'])
  return [
    findingAt(definition, { ...content, reason, object: objectNameOf(definition, undefined) }),
  ]
}

/** A namespace that the input does not have is taken as there. */
async function standInNamespaces(
  server: CheckingServer,
  manifests: readonly Manifest[],
  defaultNamespace: string,
): Promise<void> {
  const wanted = new Set([defaultNamespace, ...manifests.map(({ namespace }) => namespace)])
  wanted.delete('')
  for (const name of wanted) await standIn(server, ['', 'v1', 'Namespace'], '', name, {})
}

/** Objects that policies take their parameters from. */
function parametersOf(
  policies: readonly Manifest[],
  manifests: readonly Manifest[],
): readonly Manifest[] {
  const kinds = new Set<string>()
  for (const { object } of policies) {
    const { apiVersion, kind } = ((object['spec'] as Draft | null)?.['paramKind'] ?? {}) as Draft
    kinds.add(`${String(apiVersion).split('/').slice(0, -1).join('/')}/${kind}`)
  }
  return manifests.filter(({ group, kind }) => kinds.has(`${group}/${kind}`))
}

/** What a pod names and admission looks up: taken as there when the input does not have it. */
export async function standInsForPod(
  server: CheckingServer,
  pod: Draft,
  namespace: string,
): Promise<void> {
  const spec = (pod['spec'] ?? {}) as Draft
  const nameOf = (field: string): string =>
    typeof spec[field] === 'string' ? (spec[field] as string) : ''
  const account = nameOf('serviceAccountName') || nameOf('serviceAccount') || 'default'
  await standIn(server, ['', 'v1', 'ServiceAccount'], namespace, account, {})
  const priority = nameOf('priorityClassName')
  const value = typeof spec['priority'] === 'number' ? spec['priority'] : 0
  // Admission refuses a pod that says another than its class.
  const preemption = spec['preemptionPolicy'] === 'Never' ? { preemptionPolicy: 'Never' } : {}
  if (priority !== '')
    await standIn(server, ['scheduling.k8s.io', 'v1', 'PriorityClass'], '', priority, {
      value,
      ...preemption,
    })
  const runtime = nameOf('runtimeClassName')
  const overhead =
    spec['overhead'] === undefined ? {} : { overhead: { podFixed: spec['overhead'] } }
  if (runtime !== '')
    await standIn(server, ['node.k8s.io', 'v1', 'RuntimeClass'], '', runtime, {
      handler: 'stand-in',
      ...overhead,
    })
}

async function standIn(
  server: CheckingServer,
  [group, version, kind]: readonly [string, string, string],
  namespace: string,
  name: string,
  content: Draft,
): Promise<void> {
  const info = server.resourceOf(group, version, kind) as ResourceInfo
  if (server.has(group, info.resource, info.namespaced ? namespace : '', name)) return
  const apiVersion = group === '' ? version : `${group}/${version}`
  await server.store(info, namespace, { apiVersion, kind, metadata: { name }, ...content })
}
