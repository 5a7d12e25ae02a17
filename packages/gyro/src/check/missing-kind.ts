/** What to say of a kind that nobody knows. Pure. */
import type { ResourceInfo } from '@gyropilot/api-server'
import { suggestion } from '@gyropilot/foundation'

interface AskedKind {
  readonly group: string
  readonly apiVersion: string
  readonly kind: string
}

/** The words of kubectl, and behind them what may help. */
export function missingKindText(
  { group, apiVersion, kind }: AskedKind,
  served: readonly ResourceInfo[],
): string {
  const message = `no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`
  const versions = served.filter((info) => info.kind === kind).map(apiVersionOf)
  const own = versions.filter((one) => groupOf(one) === group)
  const others = own.length > 0 ? own : versions
  if (others.length > 0) return `${message}: there is ${[...new Set(others)].join(', ')}`
  const kinds = served.filter((info) => apiVersionOf(info) === apiVersion).map((info) => info.kind)
  const meant = suggestion(kind, kinds)
  if (meant !== '') return `${message}${meant}`
  if (kinds.length > 0) return `${message}: the kinds of ${apiVersion} are others`
  return `${message}: give its CustomResourceDefinition besides, or --ignore-missing-kinds`
}

function apiVersionOf({ group, version }: ResourceInfo): string {
  return group === '' ? version : `${group}/${version}`
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}
