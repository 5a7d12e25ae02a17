/** What another API server has, in the aggregated form. Contract: docs/behaviour/api-server/requests.md, "Discovery". */
import type { Stored } from '@gyropilot/schema/objects'

const AGGREGATED = 'APIGroupDiscoveryList'
/** How the aggregated form is asked for and answered. */
export const AGGREGATED_PARAMETERS = `g=apidiscovery.k8s.io;v=v2;as=${AGGREGATED}`
export const AGGREGATED_TYPE = `application/json;${AGGREGATED_PARAMETERS}`

/** The resources of a group version in an aggregated document; undefined: it has none of them. */
export function resourcesIn(
  document: Stored,
  group: string,
  version: string,
): readonly object[] | undefined {
  if (document['kind'] !== AGGREGATED) return undefined
  const found = (document['items'] ?? []).find(({ metadata }: Stored) => metadata?.name === group)
  const served = (found?.versions ?? []).find((entry: Stored) => entry['version'] === version)
  return served?.resources
}

/** From the list of one group version: subresources stand beside their resource there, or, as a review's, without one. */
export function resourcesFrom({ resources }: Stored): readonly object[] {
  const byName = new Map<string, { own: object; readonly subresources: object[] }>()
  for (const entry of (resources ?? []) as readonly Stored[]) {
    const [resource = '', subresource] = String(entry['name']).split('/')
    const { group = '', version = '', kind = '', verbs } = entry
    const responseKind = { group, version, kind }
    const scope = entry['namespaced'] ? 'Namespaced' : 'Cluster'
    let found = byName.get(resource)
    if (found === undefined) {
      const without = { group: '', version: '', kind: '' }
      const own = { resource, responseKind: without, scope, singularResource: '', verbs: null }
      byName.set(resource, (found = { own, subresources: [] }))
    }
    if (subresource !== undefined) {
      found.subresources.push({ subresource, responseKind, verbs })
      continue
    }
    const { singularName, shortNames, categories } = entry
    found.own = {
      resource,
      responseKind,
      scope,
      singularResource: singularName,
      verbs,
      ...(shortNames ? { shortNames } : {}),
      ...(categories ? { categories } : {}),
    }
  }
  return [...byName.values()].map(({ own, subresources }) =>
    subresources.length === 0 ? own : { ...own, subresources },
  )
}
