/** Stored objects as a request's version shows them. */
import type { Answer } from '../../http/answer.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../../registry/resource-registry.ts'
import { objectAnswer } from './answers.ts'
import type { ResourceCall } from '../call.ts'

function viewOf(resource: ServedResource, stored: Stored): Stored {
  return resource.storage.fromStored?.(stored) ?? stored
}

/** Has the webhook, when there is one, convert all of a list with one call; the views are there afterwards. */
export async function viewsOf(
  resource: ServedResource,
  entries: readonly { readonly object: Stored }[],
): Promise<Stored[]> {
  await resource.storage.conversion?.prepare(entries.map(({ object }) => object))
  return entries.map(({ object }) => viewOf(resource, object))
}

/** `anew`: a webhook is asked again, as for every object that is read by itself. Lists and watches remember its answers. */
export function storedAnswer(
  call: ResourceCall,
  status: number,
  stored: Stored,
  nowMs: () => number,
  anew = false,
): Answer | Promise<Answer> {
  const answer = (): Answer => objectAnswer(call, status, viewOf(call.resource, stored), nowMs())
  // Without a webhook there is nothing to wait for.
  const prepared = call.resource.storage.conversion?.prepare([stored], anew)
  return prepared === undefined ? answer() : prepared.then(answer)
}
