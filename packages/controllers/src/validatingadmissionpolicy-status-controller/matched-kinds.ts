/**
 * The kinds that a policy matches.
 * Contract: docs/behaviour/controllers/validatingadmissionpolicy-status-controller.md, Sync, Object types, steps 1 to 5.
 */
import type { NamedRuleWithOperations } from '@gyropilot/api'
import type { Discovered } from '@gyropilot/client'
import { compareStrings } from '@gyropilot/foundation'
import { discoverLive, discoverRemembered } from '@gyropilot/runtime'
import type { Reconcile } from '@gyropilot/runtime'
import { MOST_KINDS } from './config.ts'

export interface Kind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Sorted, each once. An error where nothing is known of the server's resources. */
export function* matchedKinds(
  rules: readonly NamedRuleWithOperations[],
): Reconcile<{ readonly kinds: readonly Kind[] } | { readonly error: unknown }> {
  const lookups = rules.map(lookupsOf)
  if (lookups.every((list) => list.length === 0)) return { kinds: [] }
  const remembered = yield* discoverRemembered()
  if (!remembered.ok) return { error: remembered.error }
  const isMissing = (lookup: Lookup): boolean => kindsFor(remembered.object, lookup).length === 0
  if (!lookups.flat().some(isMissing)) return { kinds: kindsOf(lookups, remembered.object) }
  // A definition may have brought what is missing: discovery is read again once for each policy.
  const fresh = yield* discoverLive()
  return fresh.ok ? { kinds: kindsOf(lookups, fresh.object) } : { error: fresh.error }
}

interface Lookup {
  readonly group: string
  readonly version: string
  readonly resource: string
}

/** Wildcards of groups or versions name nothing that could be looked up; of resources, and subresources, only themselves are left out. */
function lookupsOf({
  apiGroups = [],
  apiVersions = [],
  resources = [],
}: NamedRuleWithOperations): readonly Lookup[] {
  if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) return []
  const whole = resources.filter((resource) => !/[*/]/.test(resource))
  return inOrder(apiGroups).flatMap((group) =>
    inOrder(apiVersions).flatMap((version) =>
      inOrder(whole).map((resource) => ({ group, version, resource })),
    ),
  )
}

const inOrder = (names: readonly string[]): readonly string[] => names.toSorted(compareStrings)

/**
 * As a REST mapper finds them: by the resource's name or its singular, in any case of letters. The empty group stands for
 * every group, so that `events` of v1 are of two.
 */
export function kindsFor({ resources }: Discovered, { group, version, resource }: Lookup): Kind[] {
  const name = resource.toLowerCase()
  return resources
    .filter(
      (one) =>
        (group === '' || one.group === group) &&
        one.version === version &&
        (one.resource === name || (one.singular || one.kind.toLowerCase()) === name),
    )
    .map((one) => ({ group: one.group, version: one.version, kind: one.kind }))
}

/** Sorted, each once. */
function kindsOf(lookups: readonly (readonly Lookup[])[], discovered: Discovered): readonly Kind[] {
  const distinct = new Map(
    countedKinds(lookups, discovered).map((one) => [
      `${one.group}/${one.version}/${one.kind}`,
      one,
    ]),
  )
  return [...distinct.values()].sort(
    (a, b) =>
      compareStrings(a.group, b.group) ||
      compareStrings(a.version, b.version) ||
      compareStrings(a.kind, b.kind),
  )
}

/** Repeated kinds count. The rule that reaches the limit is the last. */
function countedKinds(
  lookups: readonly (readonly Lookup[])[],
  discovered: Discovered,
): readonly Kind[] {
  const found: Kind[] = []
  for (const rule of lookups) {
    const kinds = rule.flatMap((lookup) => kindsFor(discovered, lookup))
    found.push(...kinds.slice(0, MOST_KINDS))
    if (kinds.length >= MOST_KINDS) break
  }
  return found
}
