import type { KindRules, Stored } from '../../registry/kind-rules.ts'
import type { FieldErrors } from '../../schema/field-errors.ts'
import { invalidAll } from '../../schema/validation/labels.ts'
import { dnsSubdomain } from '../../schema/validation/names.ts'
import { ageColumn, column, nameColumn, tableColumns } from '../columns.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'

function validateSubject(subject: Stored, errors: FieldErrors, field: string): void {
  const kinds: Readonly<Record<string, string>> = {
    User: 'user',
    Group: 'group',
    ServiceAccount: 'serviceAccount',
  }
  const own = kinds[subject.kind]
  if (own === undefined) {
    errors.notSupported(`${field}.kind`, subject.kind ?? '', ['Group', 'ServiceAccount', 'User'])
    return
  }
  if (!subject[own])
    errors.required(`${field}.${own}`, `${own} is required when subject kind is '${subject.kind}'`)
  else if (!subject[own].name) errors.required(`${field}.${own}.name`)
}

function validateRule(rule: Stored, errors: FieldErrors, field: string): void {
  if ((rule.subjects ?? []).length === 0)
    errors.required(`${field}.subjects`, 'subjects must contain at least one value')
  for (const [index, subject] of (rule.subjects ?? []).entries())
    validateSubject(subject, errors, `${field}.subjects[${index}]`)
  if ((rule.resourceRules ?? []).length === 0 && (rule.nonResourceRules ?? []).length === 0) {
    errors.required(field, 'at least one of resourceRules and nonResourceRules has to be non-empty')
  }
  for (const [index, resource] of (rule.resourceRules ?? []).entries()) {
    const at = `${field}.resourceRules[${index}]`
    if ((resource.verbs ?? []).length === 0)
      errors.required(`${at}.verbs`, 'verbs must contain at least one value')
    if ((resource.apiGroups ?? []).length === 0)
      errors.required(`${at}.apiGroups`, 'resource rules must supply at least one api group')
    if ((resource.resources ?? []).length === 0)
      errors.required(`${at}.resources`, 'resource rules must supply at least one resource')
    if ((resource.namespaces ?? []).length === 0 && resource.clusterScope !== true) {
      errors.required(
        `${at}.namespaces`,
        'resource rules that are not cluster scoped must supply at least one namespace',
      )
    }
  }
}

export const flowSchema: KindRules = {
  group: GROUP,
  kind: 'FlowSchema',
  defaults(object) {
    object.spec ??= {}
    object.spec.matchingPrecedence ||= 1000
  },
  validate(object, errors) {
    const spec: Stored = object.spec ?? {}
    const precedence: number = spec.matchingPrecedence ?? 0
    if (precedence <= 0)
      errors.invalid('spec.matchingPrecedence', precedence, 'must be a positive value')
    if (precedence > 10000)
      errors.invalid('spec.matchingPrecedence', precedence, 'must not be greater than 10000')
    if (precedence === 1 && object.metadata?.name !== 'exempt')
      errors.invalid(
        'spec.matchingPrecedence',
        precedence,
        "only the schema named 'exempt' may have matchingPrecedence 1",
      )
    const method = spec.distinguisherMethod?.type
    if (spec.distinguisherMethod && !['ByNamespace', 'ByUser'].includes(method))
      errors.notSupported('spec.distinguisherMethod', { Type: method ?? '' }, [
        'ByNamespace',
        'ByUser',
      ])
    const level: string = spec.priorityLevelConfiguration?.name ?? ''
    if (level === '')
      errors.required('spec.priorityLevelConfiguration.name', 'must reference a priority level')
    else invalidAll(errors, 'spec.priorityLevelConfiguration.name', level, dnsSubdomain(level))
    for (const [index, rule] of (spec.rules ?? []).entries())
      validateRule(rule, errors, `spec.rules[${index}]`)
  },
  columns: tableColumns('flowcontrol.apiserver.k8s.io/flowschemas', {
    PriorityLevel: (object) => object.spec?.priorityLevelConfiguration?.name ?? '',
    MatchingPrecedence: (object) => object.spec?.matchingPrecedence ?? 0,
    DistinguisherMethod: (object) => object.spec?.distinguisherMethod?.type ?? '<none>',
    MissingPL: (object) =>
      (object.status?.conditions ?? []).find(({ type }: Stored) => type === 'Dangling')?.status ??
      '?',
  }),
}

export const priorityLevelConfiguration: KindRules = {
  group: GROUP,
  kind: 'PriorityLevelConfiguration',
  defaults(object) {
    const spec = (object.spec ??= {})
    if (spec.exempt) {
      spec.exempt.nominalConcurrencyShares ??= 0
      spec.exempt.lendablePercent ??= 0
    }
    if (!spec.limited) return
    spec.limited.nominalConcurrencyShares ??= 30
    spec.limited.lendablePercent ??= 0
    const queuing = spec.limited.limitResponse?.queuing
    if (!queuing) return
    queuing.queues ||= 64
    queuing.handSize ||= 8
    queuing.queueLengthLimit ||= 50
  },
  validate(object, errors) {
    const spec: Stored = object.spec ?? {}
    if (spec.type === 'Exempt') {
      if (spec.limited) errors.forbidden('spec.limited', 'must be nil if the type is not Limited')
    } else if (spec.type === 'Limited') {
      if (spec.exempt) errors.forbidden('spec.exempt', 'must be nil if the type is Limited')
      if (!spec.limited) errors.required('spec.limited', 'must not be empty when type is Limited')
      else if (!['Queue', 'Reject'].includes(spec.limited.limitResponse?.type)) {
        errors.notSupported(
          'spec.limited.limitResponse.type',
          spec.limited.limitResponse?.type ?? '',
          ['Queue', 'Reject'],
        )
      }
    } else errors.notSupported('spec.type', spec.type ?? '', ['Exempt', 'Limited'])
  },
  columns: [
    nameColumn,
    column(
      'Type',
      'string',
      '`type` indicates whether this priority level is subject to limitation on request execution.',
      (object) => object.spec?.type ?? '',
    ),
    column(
      'NominalConcurrencyShares',
      'string',
      '`nominalConcurrencyShares` (NCS) contributes to the computation of the NominalConcurrencyLimit (NominalCL) of this level.',
      (object) =>
        text(
          object.spec?.limited?.nominalConcurrencyShares ??
            object.spec?.exempt?.nominalConcurrencyShares,
        ),
    ),
    column(
      'Queues',
      'string',
      '`queues` is the number of queues for this priority level.',
      (object) => text(object.spec?.limited?.limitResponse?.queuing?.queues),
    ),
    column(
      'HandSize',
      'string',
      '`handSize` is a small positive number that configures the shuffle sharding of requests into queues.',
      (object) => text(object.spec?.limited?.limitResponse?.queuing?.handSize),
    ),
    column(
      'QueueLengthLimit',
      'string',
      '`queueLengthLimit` is the maximum number of requests allowed to be waiting in a given queue of this priority level at a time.',
      (object) => text(object.spec?.limited?.limitResponse?.queuing?.queueLengthLimit),
    ),
    ageColumn,
  ],
}

function text(value: number | undefined): string | number {
  return value ?? '<none>'
}
