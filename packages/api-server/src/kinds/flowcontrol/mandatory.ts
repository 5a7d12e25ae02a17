/** The two flow schemas and priority levels that are always there keep the spec they were made with. */
import type { FlowSchema, PriorityLevelConfiguration } from '@gyropilot/api'
import { deepEqual } from '@gyropilot/api'
import type { FieldErrors } from '@gyropilot/schema/field-errors'
import { internalForm } from '@gyropilot/schema/internal-form'
import type { StoredOf } from '../../registry/kind-rules.ts'

const EVERYTHING = {
  resourceRules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
  ],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

const groupsOf = (...names: readonly string[]): readonly object[] =>
  names.map((name) => ({ kind: 'Group', group: { name } }))

const SCHEMAS: Readonly<Record<string, object>> = {
  exempt: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [{ subjects: groupsOf('system:masters'), ...EVERYTHING }],
  },
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [
      { subjects: groupsOf('system:unauthenticated', 'system:authenticated'), ...EVERYTHING },
    ],
  },
}

export function validateMandatorySchema(object: StoredOf<FlowSchema>, errors: FieldErrors): void {
  const name = object.metadata?.name ?? ''
  const fixed = SCHEMAS[name]
  if (fixed === undefined || deepEqual(object.spec, fixed)) return
  errors.invalid(
    'spec',
    internalForm(object.spec, 'FlowSchemaSpec'),
    `spec of '${name}' must equal the fixed value`,
  )
}

const CATCH_ALL = {
  type: 'Limited',
  limited: {
    nominalConcurrencyShares: 5,
    lendablePercent: 0,
    limitResponse: { type: 'Reject' },
  },
}

export function validateMandatoryLevel(
  object: StoredOf<PriorityLevelConfiguration>,
  errors: FieldErrors,
): void {
  const name = object.metadata?.name ?? ''
  const { exempt, ...rest } = object.spec ?? {}
  const what =
    name === 'exempt' && !deepEqual(rest, { type: 'Exempt' })
      ? "'exempt' except the 'spec.exempt' field"
      : name === 'catch-all' && !deepEqual(object.spec, CATCH_ALL)
        ? "'catch-all'"
        : undefined
  if (what === undefined) return
  const printed = internalForm(object.spec, 'PriorityLevelConfigurationSpec')
  // What is not of the type is not defaulted inside.
  if (rest.type !== 'Exempt' && exempt === undefined) printed['Exempt'] = null
  errors.invalid('spec', printed, `spec of ${what} must equal the fixed value`)
}
