/** What a start does to roles and bindings that exist already: adds what is missing, takes nothing away. */
import { semanticEqual } from '@gyropilot/api'
import { uncoveredRules } from '../auth/rbac-rules.ts'
import type { Stored } from '@gyropilot/schema/objects'

const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate'

/** The object to store, or undefined when nothing is to be done. */
export function reconciledRole(expected: Stored, stored: Stored): Stored | undefined {
  if (isLeftAlone(stored)) return undefined
  const merged = { ...stored, metadata: mergedMetadata(expected, stored) }
  if (expected['aggregationRule'] !== undefined) {
    // The aggregation controller owns the rules.
    const known: Stored[] = stored['aggregationRule']?.clusterRoleSelectors ?? []
    const missing = expected['aggregationRule'].clusterRoleSelectors.filter(
      (selector: Stored) => !known.some((entry) => semanticEqual(entry, selector)),
    )
    return unlessSame(
      { ...merged, aggregationRule: { clusterRoleSelectors: [...known, ...missing] } },
      stored,
    )
  }
  const rules = stored['rules'] ?? []
  const missing = uncoveredRules(rules, expected['rules'] ?? [])
  return unlessSame(
    missing.length === 0 ? merged : { ...merged, rules: [...rules, ...missing] },
    stored,
  )
}

/** `recreate`: roleRef never changes on an existing binding. */
export function reconciledBinding(
  expected: Stored,
  stored: Stored,
): Stored | 'recreate' | undefined {
  if (isLeftAlone(stored)) return undefined
  if (!semanticEqual(expected['roleRef'], stored['roleRef'])) return 'recreate'
  const known: Stored[] = stored['subjects'] ?? []
  const missing = (expected['subjects'] ?? []).filter(
    (subject: Stored) => !known.some((entry) => semanticEqual(entry, subject)),
  )
  const metadata = mergedMetadata(expected, stored)
  return unlessSame(
    { ...stored, metadata, ...(missing.length === 0 ? {} : { subjects: [...known, ...missing] }) },
    stored,
  )
}

function isLeftAlone({ metadata }: Stored): boolean {
  return metadata.annotations?.[AUTO_UPDATE] === 'false'
}

function mergedMetadata(expected: Stored, stored: Stored): Stored {
  const { labels, annotations } = expected['metadata']
  const before = stored['metadata']
  return {
    ...before,
    ...(labels === undefined ? {} : { labels: { ...labels, ...before.labels } }),
    ...(annotations === undefined
      ? {}
      : { annotations: { ...annotations, ...before.annotations } }),
  }
}

function unlessSame(wanted: Stored, stored: Stored): Stored | undefined {
  return semanticEqual(wanted, stored) ? undefined : wanted
}
