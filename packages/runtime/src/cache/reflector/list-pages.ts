import type { KubernetesObject, ObjectList } from '@gyropilot/api'
import { isExpired } from '@gyropilot/client'
import type { ListOptions, ResourceClient } from '@gyropilot/client'

interface ListedPages<T> {
  readonly items: readonly T[]
  /** That of the first page: the state of the whole. */
  readonly resourceVersion: string
  readonly pages: number
}

/**
 * Lists page after page. Continuation pages carry the token and no resourceVersion. When the token has expired, everything
 * is listed once in one piece at the resourceVersion first asked for. `onPage` has each page as soon as it is there, and is waited for.
 */
export async function listPages<T extends KubernetesObject>(
  client: ResourceClient<T>,
  {
    onPage,
    ...options
  }: ListOptions & { readonly onPage?: (page: ObjectList<T>) => Promise<void> },
): Promise<ListedPages<T>> {
  const listPage = async (pageOptions: ListOptions): Promise<ObjectList<T>> => {
    const page = await client.list(pageOptions)
    refuseTable(page)
    if (page.items) await onPage?.(page)
    return page
  }
  const first = await listPage(options)
  const resourceVersion = first.metadata?.resourceVersion ?? ''
  let token = first.metadata?.continue
  if (!token) return { items: first.items ?? [], resourceVersion, pages: 1 }

  const items = [...first.items]
  const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options
  let pages = 1
  while (token) {
    try {
      const page = await listPage({ ...rest, continue: token })
      for (const item of page.items) items.push(item)
      token = page.metadata.continue
      pages++
    } catch (error) {
      if (!isExpired(error)) throw error
      const { limit: ___, ...whole } = options
      const all = await listPage(whole)
      return {
        items: all.items ?? [],
        resourceVersion: all.metadata.resourceVersion ?? '',
        pages: pages + 1,
      }
    }
  }
  return { items, resourceVersion, pages }
}

function refuseTable(list: { readonly kind?: string }): void {
  if (list.kind === 'Table') throw new Error('the server answered a Table, not a list of objects')
}
