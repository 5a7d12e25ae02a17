/** The objects that a binding names as parameters of its policy. */
import { labelQueryOf } from '@gyropilot/api'
import type { AdmissionRequest } from '../../contracts.ts'
import type { Stored } from '../../registry/kind-rules.ts'
import type { ResourceRegistry, ServedResource } from '../../registry/resource-registry.ts'
import { readAll } from '../world.ts'
import type { AdmissionWorld } from '../world.ts'

/** Why a binding cannot be used; handled as the policy's failurePolicy says. */
export class ConfigurationError extends Error {}

/** What is wrong with the kind of parameters that a policy names; undefined: nothing. */
export function paramKindProblem(
  { registry }: AdmissionWorld,
  kind: Stored | undefined,
): string | undefined {
  if (kind === undefined || resourceOf(registry, kind) !== undefined) return undefined
  const [group, version] = groupAndVersionOf(kind)
  return `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind['kind']}'`
}

/** One evaluation for each; undefined stands for none asked for. Throws ConfigurationError. */
export function paramsOf(
  world: AdmissionWorld,
  request: AdmissionRequest,
  kind: Stored | undefined,
  reference: Stored | undefined,
): readonly (Stored | undefined)[] {
  if (kind === undefined || reference === undefined) return [undefined]
  const resource = resourceOf(world.registry, kind)
  if (resource === undefined) throw new ConfigurationError(paramKindProblem(world, kind))
  const namespace = namespaceFor(request, resource, reference)
  const { collection } = resource.storage
  const found =
    typeof reference['name'] === 'string' && reference['name'] !== ''
      ? named(world, collection, namespace, reference['name'])
      : selected(world, collection, namespace, reference)
  if (found.length === 0 && reference['parameterNotFoundAction'] === 'Deny')
    throw new ConfigurationError(
      'no params found for policy binding with `Deny` parameterNotFoundAction',
    )
  return found.map((object) => shown(resource, object))
}

/** Who owns which fields is told of custom resources only. */
function shown({ storage, definition }: ServedResource, object: Stored): Stored {
  const whole = storage.fromStored?.(object) ?? object
  if (definition !== undefined) return whole
  const { managedFields: _, ...metadata } = whole['metadata']
  return { ...whole, metadata }
}

export function groupAndVersionOf(kind: Stored): readonly [group: string, version: string] {
  const [first = '', second]: string[] = (kind['apiVersion'] ?? '').split('/')
  return second === undefined ? ['', first] : [first, second]
}

function resourceOf(
  registry: ResourceRegistry | undefined,
  kind: Stored,
): ServedResource | undefined {
  return registry?.byKind(...groupAndVersionOf(kind), kind['kind'])
}

function namespaceFor(
  request: AdmissionRequest,
  { info }: ServedResource,
  reference: Stored,
): string {
  const given: string = reference['namespace'] ?? ''
  if (!info.namespaced) {
    if (given === '') return ''
    throw new ConfigurationError(
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    )
  }
  const namespace = given === '' ? request.namespace : given
  if (namespace !== '') return namespace
  throw new ConfigurationError(
    'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
  )
}

function named(
  { store }: AdmissionWorld,
  collection: string,
  namespace: string,
  name: string,
): readonly Stored[] {
  const key = namespace === '' ? name : `${namespace}/${name}`
  const object = store.get({ collection, key })?.object
  return object === undefined ? [] : [object]
}

function selected(
  world: AdmissionWorld,
  collection: string,
  namespace: string,
  reference: Stored,
): readonly Stored[] {
  const query = labelQueryOf(reference['selector'] ?? {})
  const all = readAll(world, collection, namespace === '' ? undefined : namespace)
  return all.filter((object) => query.matches(object['metadata'].labels ?? {}))
}
