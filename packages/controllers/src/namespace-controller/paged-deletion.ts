/**
 * Deletion of a collection in pages beside each other. A server deletes the objects of one request one after the other
 * (--delete-collection-workers=1), so that thousands of pods take as many round trips to its storage. Each page is a request of
 * its own, still a small one; a collection of one page takes one request, as it always did.
 */
import type { ResourceType } from '@gyropilot/api'
import { isExpired } from '@gyropilot/client'
import { listLive, write, writeAll } from '@gyropilot/runtime'
import type { Outcome, Reconcile } from '@gyropilot/runtime'

/** Small, as the first page goes alone: the pages behind it are known when it is gone. */
export const PAGE_SIZE = 100
/** So many pages are deleted at once, of all that one namespace has. */
export const PAGES_AT_ONCE = 8

const options = { propagationPolicy: 'Background' } as const

/** Deletes everything of one resource in a namespace; the first error, once what was under way has ended. */
export function* deleteInPages(
  type: ResourceType,
  namespace: string,
): Reconcile<{ readonly error?: unknown }> {
  const collection = { verb: 'deleteCollection', type, namespace, options } as const
  const first = yield* write({ ...collection, limit: PAGE_SIZE })
  if (!first.ok) return { error: first.error }
  // A server that deletes without regard to the limit has deleted everything, and names no next page.
  let next = continueOf(first)
  while (next !== undefined) {
    const pages: string[] = []
    while (next !== undefined && pages.length < PAGES_AT_ONCE) {
      pages.push(next)
      const page: Outcome = yield* listLive(type, namespace, {
        metadataOnly: true,
        limit: PAGE_SIZE,
        continue: next,
      })
      if (!page.ok) return yield* afterFailure(page.error)
      next = continueOf(page)
    }
    const outcomes = yield* writeAll(
      pages.map((page) => ({ ...collection, limit: PAGE_SIZE, continue: page })),
      'parallel',
    )
    for (const outcome of outcomes) if (!outcome.ok) return yield* afterFailure(outcome.error)
  }
  return {}

  /** Pages are those of the moment of the first; the server forgets it after minutes. What is left then goes at once. */
  function* afterFailure(error: unknown): Reconcile<{ readonly error?: unknown }> {
    if (!isExpired(error)) return { error }
    const rest = yield* write(collection)
    return rest.ok ? {} : { error: rest.error }
  }
}

function continueOf(outcome: Outcome): string | undefined {
  if (!outcome.ok) return undefined
  const { continue: token } = (outcome.object.metadata ?? {}) as { readonly continue?: string }
  return token === undefined || token === '' ? undefined : token
}
