/**
 * Deletion of a collection in pages beside each other. A server deletes the objects of one request one after the other
 * (--delete-collection-workers=1), so that thousands of pods take as many round trips to its storage. Each page is a request of
 * its own, still a small one; a collection of one page takes one request, as it always did.
 */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { isExpired } from '@gyropilot/client'
import { listLive, write, writeAll } from '@gyropilot/runtime'
import type { Outcome, Reconcile, WriteOf } from '@gyropilot/runtime'

/** Small, as the first page goes alone: the pages behind it are known when it is gone. */
export const PAGE_SIZE = 100
/** So many pages are deleted at once, of all that one namespace has. */
export const PAGES_AT_ONCE = 8

const options = { propagationPolicy: 'Background' } as const

interface PagedDeletion {
  readonly error?: unknown
  /** The server read what there was to delete, and there was nothing. */
  readonly foundNone?: boolean
}

/**
 * Deletes everything of one resource in a namespace; the first error, once what was under way has ended. `isLarge`: there is
 * more than one page, so that no page need go alone to find that out.
 */
export function* deleteInPages(
  type: ResourceType,
  namespace: string,
  isLarge = false,
): Reconcile<PagedDeletion> {
  const collection = { verb: 'deleteCollection', type, namespace, options } as const
  const pageFrom = (token: string | undefined): WriteOf<KubernetesObject> => ({
    ...collection,
    limit: PAGE_SIZE,
    ...(token === undefined ? {} : { continue: token }),
  })
  const first = isLarge ? yield* list(undefined) : yield* write(pageFrom(undefined))
  if (!first.ok) return { error: first.error }
  // A server that deletes without regard to the limit has deleted everything, and names no next page.
  let next = continueOf(first)
  if (!isLarge && next === undefined) return { foundNone: isEmptyList(first.object) }
  let pages: (string | undefined)[] = isLarge ? [undefined] : []
  do {
    while (next !== undefined && pages.length < PAGES_AT_ONCE) {
      pages.push(next)
      const page = yield* list(next)
      if (!page.ok) return yield* afterFailure(page.error)
      next = continueOf(page)
    }
    const outcomes = yield* writeAll(pages.map(pageFrom), 'parallel')
    for (const outcome of outcomes) if (!outcome.ok) return yield* afterFailure(outcome.error)
    pages = []
  } while (next !== undefined)
  return {}

  /** To know where the page behind it begins. */
  function list(token: string | undefined): Reconcile<Outcome> {
    const page = token === undefined ? {} : { continue: token }
    return listLive(type, namespace, { metadataOnly: true, limit: PAGE_SIZE, ...page })
  }

  /** Pages are those of the moment of the first; the server forgets it after minutes. What is left then goes at once. */
  function* afterFailure(error: unknown): Reconcile<PagedDeletion> {
    if (!isExpired(error)) return { error }
    const rest = yield* write(collection)
    return rest.ok ? {} : { error: rest.error }
  }
}

/** A server may also answer with a Status, or with items that nobody decoded. */
function isEmptyList(answer: KubernetesObject): boolean {
  const { items, itemsLeftOut } = answer as {
    readonly items?: readonly unknown[]
    readonly itemsLeftOut?: boolean
  }
  return items?.length === 0 && itemsLeftOut !== true
}

function continueOf(outcome: Outcome): string | undefined {
  if (!outcome.ok) return undefined
  const { continue: token } = (outcome.object.metadata ?? {}) as { readonly continue?: string }
  return token === undefined || token === '' ? undefined : token
}
