/**
 * Deletion of a collection in pages beside each other. A server deletes the objects of one request one after the other
 * (--delete-collection-workers=1), so that thousands of pods take as many round trips to its storage. Each page is a request of
 * its own, still a small one; a collection of one page takes one request, as it always did.
 */
import type { KubernetesObject, ResourceType } from '@gyropilot/api'
import { isExpired } from '@gyropilot/client'
import { beside, listLive, write } from '@gyropilot/runtime'
import type { Outcome, Reconcile, WriteOf } from '@gyropilot/runtime'

/** Small, as the first page goes alone where nothing is known of others: these are found when it is gone. */
export const PAGE_SIZE = 100
/** So many pages are deleted at once, of all that one namespace has. */
export const PAGES_AT_ONCE = 8

const options = { propagationPolicy: 'Background' } as const

/** The token that leads to a page; undefined: to the first one. */
export type PageStart = string | undefined

interface PagedDeletion {
  readonly error?: unknown
  /** The server read what there was to delete, and there was nothing. */
  readonly foundNone?: boolean
}

/**
 * Deletes everything of one resource in a namespace; the first error, once what was under way has ended. `pages`: where they begin,
 * if somebody has found them already.
 */
export function* deleteInPages(
  type: ResourceType,
  namespace: string,
  pages?: readonly PageStart[],
): Reconcile<PagedDeletion> {
  const collection = { verb: 'deleteCollection', type, namespace, options } as const
  if (pages !== undefined) return yield* afterAll(yield* deletePages(pages))
  const first = yield* write(pageFrom(undefined))
  if (!first.ok) return { error: first.error }
  // A server that deletes without regard to the limit has deleted everything, and names no next page.
  const next = continueOf(first)
  if (next === undefined) return { foundNone: isEmptyList(first.object) }
  const found = yield* findPages(type, namespace, { from: next, metadataOnly: true })
  return yield* afterAll(found.error ?? (yield* deletePages(found.pages)))

  /** The first error, after which no other page begins. */
  function* deletePages(starts: readonly PageStart[]): Reconcile<unknown> {
    let error: unknown
    const deletePage = function* (start: PageStart): Reconcile<void> {
      if (error !== undefined) return
      const deletion = yield* write(pageFrom(start))
      if (!deletion.ok) error ??= deletion.error
    }
    yield* beside(starts.map(deletePage), PAGES_AT_ONCE)
    return error
  }

  /** Pages are those of the moment of the first; the server forgets it after minutes. What is left then goes at once. */
  function* afterAll(error: unknown): Reconcile<PagedDeletion> {
    if (error === undefined) return {}
    if (!isExpired(error)) return { error }
    const rest = yield* write(collection)
    return rest.ok ? {} : { error: rest.error }
  }

  function pageFrom(start: PageStart): WriteOf<KubernetesObject> {
    return { ...collection, limit: PAGE_SIZE, ...continuing(start) }
  }
}

interface FoundPages {
  /** As far as they could be read. */
  readonly pages: readonly PageStart[]
  readonly error?: unknown
}

/** Where the pages of a collection begin, by reading each: `from` is the first of them. */
export function* findPages<T extends KubernetesObject>(
  type: ResourceType<T>,
  namespace: string | undefined,
  given: {
    readonly from?: PageStart
    readonly metadataOnly?: boolean
    readonly onItems?: (items: readonly T[]) => void
  } = {},
): Reconcile<FoundPages> {
  const { from, onItems, ...what } = given
  const pages: PageStart[] = []
  let start = from
  do {
    pages.push(start)
    const page = yield* listLive(type, namespace, {
      ...what,
      limit: PAGE_SIZE,
      ...continuing(start),
    })
    if (!page.ok) return { pages, error: page.error }
    onItems?.(page.object.items)
    start = continueOf(page)
  } while (start !== undefined)
  return { pages }
}

const continuing = (start: PageStart): { readonly continue?: string } =>
  start === undefined ? {} : { continue: start }

/** Lists of metadata say null where they are empty. A server may also answer with a Status, or with items that nobody decoded. */
function isEmptyList(answer: KubernetesObject): boolean {
  const { items, itemsLeftOut } = answer as {
    readonly items?: readonly unknown[] | null
    readonly itemsLeftOut?: boolean
  }
  return items === null || (items?.length === 0 && itemsLeftOut !== true)
}

function continueOf(outcome: Outcome): string | undefined {
  if (!outcome.ok) return undefined
  const { continue: token } = (outcome.object.metadata ?? {}) as { readonly continue?: string }
  return token === undefined || token === '' ? undefined : token
}
