/** What another API server has, in the aggregated form. Contract: docs/behaviour/api-server/requests.md, "Discovery". */
import type { Draft, Stored } from '@gyropilot/schema/objects'

const AGGREGATED = 'APIGroupDiscoveryList'
/** How the aggregated form is asked for and answered. */
export const AGGREGATED_PARAMETERS = `g=apidiscovery.k8s.io;v=v2;as=${AGGREGATED}`
export const AGGREGATED_TYPE = `application/json;${AGGREGATED_PARAMETERS}`

/** The resources of a group version in an aggregated document; undefined: it is none. */
export function resourcesIn(
  document: Stored,
  group: string,
  version: string,
): readonly object[] | undefined {
  if (document['kind'] !== AGGREGATED) return undefined
  const found = (document['items'] ?? []).find(({ metadata }: Stored) => metadata?.name === group)
  const served = (found?.versions ?? []).find((entry: Stored) => entry['version'] === version)
  return (served?.resources ?? []).map(ofResource)
}

/** From the list of one group version: subresources stand beside their resource there, or, as a review's, without one. */
export function resourcesFrom({ resources }: Stored): readonly object[] {
  const found: Draft[] = []
  const last = new Map<string, Draft>()
  for (const entry of (resources ?? []) as readonly Stored[]) {
    const [resource = '', ...rest] = String(entry['name']).split('/')
    const scope = entry['namespaced'] ? 'Namespaced' : 'Cluster'
    let own = last.get(resource)
    const isAnother = rest.length === 0 && own?.['isNamed'] === true
    if (own === undefined || isAnother) {
      own = { resource, scope, responseKind: {}, subresources: [] }
      found.push(own)
      last.set(resource, own)
    }
    const { group, version, kind, verbs } = entry
    const responseKind = { group, version, kind }
    if (rest.length > 0) {
      own['subresources'].push({ subresource: rest.join('/'), responseKind, verbs })
      continue
    }
    const { singularName: singularResource, shortNames, categories } = entry
    Object.assign(own, { responseKind, scope, singularResource, verbs, shortNames, categories })
    own['isNamed'] = true
  }
  return found.map(ofResource)
}

/** What is known of one, and nothing else. */
function ofResource(told: Stored): object {
  const { resource = '', responseKind, scope = '', singularResource = '', verbs = null } = told
  const { shortNames, categories, subresources } = told
  return {
    resource,
    responseKind: kindOf(responseKind),
    scope,
    singularResource,
    verbs,
    ...listIn('shortNames', shortNames),
    ...listIn('categories', categories),
    ...listIn('subresources', subresources?.map(ofSubresource)),
  }
}

function ofSubresource({ subresource, responseKind, acceptedTypes, verbs = null }: Stored): object {
  return {
    subresource,
    responseKind: kindOf(responseKind),
    ...listIn('acceptedTypes', acceptedTypes?.map(kindOf)),
    verbs,
  }
}

function kindOf(told: Stored | undefined): object {
  const { group = '', version = '', kind = '' } = told ?? {}
  return { group, version, kind }
}

function listIn(name: string, list: readonly unknown[] | undefined | null): object {
  return list === undefined || list === null || list.length === 0 ? {} : { [name]: list }
}
