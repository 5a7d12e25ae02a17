/** Which admission webhooks stand between an object and its end. Pure. */
import { InvalidSelectorError, labelQueryOf } from '@gyropilot/api'
import type { LabelSelector, Labels, RuleWithOperations, UnstructuredObject } from '@gyropilot/api'
import type { Facts, Reason, WebhookFact } from './facts.ts'
import { unreadable } from './words.ts'

type Operation = 'UPDATE' | 'DELETE'

/** A write that somebody has to make for the object to go. */
export interface NeededWrite {
  readonly operation: Operation
  /** `finalize`, `status`; empty: the object itself. */
  readonly subresource: string
}

/** Webhooks that would be asked about one of these writes. What CEL conditions say is not looked at. */
export function webhooksAsked(
  facts: Pick<Facts, 'cluster' | 'type' | 'object' | 'namespace'>,
  writes: readonly NeededWrite[],
): readonly WebhookFact[] {
  const { type, object, namespace, cluster } = facts
  if (!isAskable({ type })) return []
  return cluster.webhooks.filter(
    ({ webhook }) =>
      (webhook.rules ?? []).some((rule) =>
        writes.some((write) => covers(rule, facts, write, webhook.matchPolicy)),
      ) &&
      selects(webhook.objectSelector, object) &&
      selects(webhook.namespaceSelector, type.kind === 'Namespace' ? object : namespace),
  )
}

/** Admission never asks webhooks about their own configurations. */
function isAskable({ type }: Pick<Facts, 'type'>): boolean {
  return type.group !== 'admissionregistration.k8s.io'
}

function covers(
  { apiGroups, apiVersions, operations, resources, scope = '*' }: RuleWithOperations,
  { type }: Pick<Facts, 'type'>,
  { operation, subresource }: NeededWrite,
  matchPolicy: 'Exact' | 'Equivalent' | undefined,
): boolean {
  const has = (list: readonly string[] | undefined, ...wanted: readonly string[]): boolean =>
    wanted.some((value) => list?.includes(value) ?? false)
  // Equivalent (the default) takes a resource in any version, as servers convert it.
  const isOfVersion = matchPolicy !== 'Exact' || has(apiVersions, '*', type.version)
  const plain = type.resource
  const names =
    subresource === ''
      ? ['*', '*/*', plain]
      : ['*/*', `*/${subresource}`, `${plain}/*`, `${plain}/${subresource}`]
  return (
    has(apiGroups, '*', type.group) &&
    isOfVersion &&
    has(operations, '*', operation) &&
    has(resources, ...names) &&
    (scope === '*' || (scope === 'Namespaced') === type.namespaced)
  )
}

/** Cluster-scoped objects have no namespace, so that every selector of namespaces takes them. */
function selects(
  selector: LabelSelector | undefined,
  object: UnstructuredObject | undefined,
): boolean {
  if (selector === undefined || object === undefined) return true
  try {
    return labelQueryOf(selector).matches((object.metadata?.labels ?? {}) as Labels)
  } catch (error) {
    if (error instanceof InvalidSelectorError) return true
    throw error
  }
}

/** Reasons for those that nobody answers and whose failure refuses the write; a note for what cannot be seen. */
export function webhookFindings(
  facts: Facts,
  writes: readonly NeededWrite[],
): { readonly reasons: readonly Reason[]; readonly notes: readonly string[] } {
  const asked = webhooksAsked(facts, writes).filter(
    ({ webhook }) => (webhook.failurePolicy ?? 'Fail') === 'Fail',
  )
  const what = writes
    .map(({ operation, subresource }) =>
      subresource ? `${operation} of ${subresource}` : operation,
    )
    .join(', ')
  const dead = asked.filter(
    ({ backend }) => backend === 'no service' || backend === 'no ready endpoints',
  )
  const unseen = asked.filter(({ backend }) => backend === 'unknown')
  return {
    reasons: dead.map((fact) => reasonOf(fact, what)),
    notes: [
      ...unseen.map(
        ({ webhook, kind, configuration }) =>
          `webhook ${webhook.name} (${kind}/${configuration}) is asked too (${what}), and whether it answers cannot be seen`,
      ),
      ...(isAskable(facts) ? unreadable(facts.cluster.unread.webhooks) : []).map(
        (text) => `a webhook may stand in the way (${what}): ${text}`,
      ),
    ],
  }
}

function reasonOf({ webhook, kind, configuration, backend }: WebhookFact, what: string): Reason {
  const { service } = webhook.clientConfig
  const name = service === undefined ? '' : `${service.namespace}/${service.name}`
  const trouble = backend === 'no service' ? 'does not exist' : 'has no ready endpoints'
  const conditions = webhook.matchConditions?.map((condition) => condition.name) ?? []
  return {
    code: 'BlockedByWebhook',
    holds: `webhook ${webhook.name} of ${kind}/${configuration}`,
    evidence: [
      `asked for every ${what} of this kind, failurePolicy Fail, and its service ${name} ${trouble}`,
      ...(conditions.length === 0
        ? []
        : [`unless its matchConditions say otherwise: ${conditions.join(', ')}`]),
    ],
    release: `service ${name} answers again, or ${kind.toLowerCase()}/${configuration} is corrected or deleted`,
    waitsFor: [],
  }
}
