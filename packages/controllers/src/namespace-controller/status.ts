/** The five conditions of a namespace that goes away. Contract: docs/behaviour/controllers/namespace-controller.md, Status. Pure. */
import type { DiscoveredResource, NamespaceCondition } from '@gyropilot/api'
import { errorText, formatTime } from '@gyropilot/foundation'
import { discoveryFailureText } from './discovery.ts'

export const CONTENT_REMAINING = 'NamespaceContentRemaining'

export interface PassFindings {
  readonly discoveryError: unknown
  readonly discoveryFailures: readonly string[]
  readonly deletionErrors: unknown[]
  readonly remaining: { readonly type: DiscoveredResource; readonly count: number }[]
  readonly finalizers: Map<string, number>
}

interface Finding {
  readonly type: string
  /** Present: the condition is True. */
  readonly failing?: { readonly reason: string; readonly message: string }
  readonly ok: { readonly reason: string; readonly message: string }
}

function findingsInOrder(findings: PassFindings): readonly Finding[] {
  return [
    {
      type: 'NamespaceDeletionDiscoveryFailure',
      failing: discoveryFailing(findings),
      ok: { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    },
    {
      // The aggregated form has groups and versions apart, so there is nothing to be parsed wrongly.
      type: 'NamespaceDeletionGroupVersionParsingFailure',
      ok: { reason: 'ParsedGroupVersions', message: 'All legacy kube types successfully parsed' },
    },
    {
      type: 'NamespaceDeletionContentFailure',
      failing: contentFailing(findings.deletionErrors),
      ok: {
        reason: 'ContentDeleted',
        message: 'All content successfully deleted, may be waiting on finalization',
      },
    },
    {
      type: CONTENT_REMAINING,
      failing: contentRemaining(findings),
      ok: { reason: 'ContentRemoved', message: 'All content successfully removed' },
    },
    {
      type: 'NamespaceFinalizersRemaining',
      failing: finalizersRemaining(findings),
      ok: {
        reason: 'ContentHasNoFinalizers',
        message: 'All content-preserving finalizers finished',
      },
    },
  ]
}

function discoveryFailing({ discoveryError, discoveryFailures }: PassFindings): Finding['failing'] {
  const reason = 'DiscoveryFailed'
  if (discoveryFailures.length > 0) {
    const count = discoveryFailures.length
    const detail = discoveryFailureText(discoveryFailures)
    return { reason, message: `Discovery failed for some groups, ${count} failing: ${detail}` }
  }
  return discoveryError === undefined ? undefined : { reason, message: errorText(discoveryError) }
}

function contentFailing(errors: readonly unknown[]): Finding['failing'] {
  if (errors.length === 0) return undefined
  const texts = errors.map(errorText).toSorted().join(', ')
  const message = `Failed to delete all resource types, ${errors.length} remaining: ${texts}`
  return { reason: 'ContentDeletionFailed', message }
}

function contentRemaining({ remaining }: PassFindings): Finding['failing'] {
  if (remaining.length === 0) return undefined
  const texts = remaining.map(
    ({ type, count }) => `${type.resource}.${type.group} has ${count} resource instances`,
  )
  const message = `Some resources are remaining: ${texts.toSorted().join(', ')}`
  return { reason: 'SomeResourcesRemain', message }
}

function finalizersRemaining({ finalizers }: PassFindings): Finding['failing'] {
  if (finalizers.size === 0) return undefined
  const texts = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`)
  const message = `Some content in the namespace has finalizers remaining: ${texts.toSorted().join(', ')}`
  return { reason: 'SomeFinalizersRemain', message }
}

/** The new list, or undefined when nothing changed. Transition times move with the status only. */
export function conditionsAfterPass(
  stored: readonly NamespaceCondition[],
  findings: PassFindings,
  nowMs: number,
): readonly NamespaceCondition[] | undefined {
  let changed = false
  const conditions = [...stored]
  for (const { type, failing, ok } of findingsInOrder(findings)) {
    const status = failing === undefined ? 'False' : 'True'
    const { reason, message } = failing ?? ok
    const index = conditions.findIndex((condition) => condition.type === type)
    const before = conditions[index]
    if (before?.status === status && before.reason === reason && before.message === message)
      continue
    changed = true
    const lastTransitionTime =
      before?.status === status ? before.lastTransitionTime : formatTime(nowMs)
    const after = { type, status, lastTransitionTime, reason, message }
    if (before === undefined) conditions.push(after)
    else conditions[index] = after
  }
  return changed ? conditions : undefined
}
