/** What an API server makes of selectors, in lists and in watches. */
import type { KubernetesObject, WatchEvent } from '@gyropilot/api'
import { parseLabelQuery } from '@gyropilot/api'
import type { ListOptions } from '@gyropilot/client'

type Selectors = Pick<ListOptions, 'labelSelector' | 'fieldSelector'>

/** Throws InvalidSelectorError. */
export function selected(
  objects: readonly KubernetesObject[],
  { labelSelector = '', fieldSelector = '' }: Selectors = {},
): readonly KubernetesObject[] {
  const labels = parseLabelQuery(labelSelector)
  const fields = fieldSelector === '' ? [] : fieldSelector.split(',').map(termOf)
  return objects.filter(
    (object) =>
      labels.matches(object.metadata?.labels) &&
      fields.every(({ path, value, equal }) => (valueAt(object, path) === value) === equal),
  )
}

/** What a change is for a watch with selectors: objects come and go with what is selected by. Undefined: nothing. */
export function seenThrough(
  selectors: Selectors,
  event: WatchEvent,
  previous: KubernetesObject | undefined,
): WatchEvent | undefined {
  const was = previous !== undefined && selected([previous], selectors).length > 0
  const is = event.type !== 'DELETED' && selected([event.object], selectors).length > 0
  if (is) return { ...event, type: was ? 'MODIFIED' : 'ADDED' }
  if (!was) return undefined
  const { resourceVersion } = event.object.metadata ?? {}
  return {
    type: 'DELETED',
    object: { ...previous, metadata: { ...previous.metadata, resourceVersion } },
  }
}

function termOf(term: string): { path: string; value: string | undefined; equal: boolean } {
  const [path = '', operator, value] = term.split(/(!=|==?)/)
  return { path, value, equal: operator !== '!=' }
}

function valueAt(object: KubernetesObject, path: string): string {
  const value = path
    .split('.')
    .reduce<unknown>((at, field) => (at as Record<string, unknown> | undefined)?.[field], object)
  return String(value ?? '')
}
