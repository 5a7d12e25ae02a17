/** Contract: docs/behaviour/runtime/custom-controllers.md, Helpers. */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { apiVersionOf, createMergePatch } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import type { Client, ResourceClient } from '@gyropilot/client'
import { controllerErrors } from '../builder/errors.ts'
import { draftOf, mutated } from './draft.ts'
import type { Mutate } from './draft.ts'
import { isUnchanged } from './unchanged.ts'

/** What was written. With `updatedStatusOnly` the object itself was as it should be. */
export type WriteOperation =
  | 'unchanged'
  | 'created'
  | 'updated'
  | 'updatedStatus'
  | 'updatedStatusOnly'

/** What became of the object. */
export interface Written<T> {
  readonly operation: WriteOperation
  /** As the server answered it, or as it was read where nothing was written. */
  readonly object: T
}

/**
 * Makes the object what `mutate` makes of it: it is created when it does not exist, updated when `mutate` changed something,
 * else left alone. `object` needs name and namespace only; `mutate` is given a draft of it, or of what exists, and edits it
 * or returns another. Nothing is retried: a conflict, or an object that the cache does not show yet, is an error to return. Where
 * the status is a subresource the server leaves it as it is, and what differs in it alone would be written anew each time.
 *
 * ```ts
 * await createOrUpdate(client, resources.configmaps, { metadata: { namespace, name } }, (draft) => {
 *   draft.data = { 'index.html': html }
 * })
 * ```
 */
export async function createOrUpdate<T extends KubernetesObject>(
  client: Client,
  type: ResourceType<T>,
  object: Identified<T>,
  mutate: Mutate<T>,
): Promise<Written<T>> {
  const objects = client.resource(type, object.metadata.namespace)
  const existing = await existingOf(objects, object.metadata.name)
  if (existing === undefined) return createMutated(objects, type, object, mutate)
  const wanted = await mutatedInPlace(existing, mutate)
  if (isUnchanged(existing, wanted)) return { operation: 'unchanged', object: existing }
  return { operation: 'updated', object: await objects.update(wanted) }
}

/**
 * As `createOrUpdate` with merge patches: only the difference is sent, without a resourceVersion unless `mutate` sets one.
 * A changed status is patched through its subresource. A status that is set on creation is not written: the next call does.
 */
export async function createOrPatch<T extends KubernetesObject>(
  client: Client,
  type: ResourceType<T>,
  object: Identified<T>,
  mutate: Mutate<T>,
): Promise<Written<T>> {
  const objects = client.resource(type, object.metadata.namespace)
  const { name } = object.metadata
  const existing = await existingOf(objects, name)
  if (existing === undefined) return createMutated(objects, type, object, mutate)
  const wanted = await mutatedInPlace(existing, mutate)
  const [before, statusBefore] = withoutStatus(existing)
  const [after, statusAfter] = withoutStatus(wanted)
  let result: Written<T> = { operation: 'unchanged', object: existing }
  const patch = isUnchanged(before, after) ? undefined : createMergePatch(before, after)
  if (patch !== undefined) {
    const patched = await objects.patch(name, { type: 'merge', value: patch })
    result = { operation: 'updated', object: patched }
  }
  const statusPatch = isUnchanged(statusBefore, statusAfter)
    ? undefined
    : createMergePatch({ status: statusBefore }, { status: statusAfter })
  if (statusPatch === undefined) return result
  return {
    operation: patch === undefined ? 'updatedStatusOnly' : 'updatedStatus',
    object: await objects.patch(
      name,
      { type: 'merge', value: statusPatch },
      { subresource: 'status' },
    ),
  }
}

/** An object of which name and namespace are known, and perhaps more. */
export type Identified<T extends KubernetesObject> = Partial<Omit<T, 'metadata'>> & {
  readonly metadata: NonNullable<KubernetesObject['metadata']> & { readonly name: string }
}

async function existingOf<T extends KubernetesObject>(
  objects: ResourceClient<T>,
  name: string,
): Promise<T | undefined> {
  try {
    return await objects.get(name)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

async function createMutated<T extends KubernetesObject>(
  objects: ResourceClient<T>,
  type: ResourceType<T>,
  object: Identified<T>,
  mutate: Mutate<T>,
): Promise<Written<T>> {
  const named = { apiVersion: apiVersionOf(type), kind: type.kind, ...object }
  const wanted = await mutatedInPlace(named as unknown as T, mutate)
  return { operation: 'created', object: await objects.create(wanted) }
}

async function mutatedInPlace<T extends KubernetesObject>(
  object: T,
  mutate: Mutate<T>,
): Promise<T> {
  const wanted = await mutated(object, mutate)
  if (
    wanted.metadata?.name !== object.metadata?.name ||
    (wanted.metadata?.namespace ?? '') !== (object.metadata?.namespace ?? '')
  ) {
    throw controllerErrors.make(
      'MUTATION_INVALID',
      'MutateFn cannot mutate object name and/or object namespace',
    )
  }
  return wanted
}

function withoutStatus(object: KubernetesObject): [object, unknown] {
  const { status, ...rest } = draftOf(object) as KubernetesObject & { status?: unknown }
  return [rest, status]
}
